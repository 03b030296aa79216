/**
 * The schema of the store. Every value is one JSON object `{"v":1,…}`; see values.ts.
 *
 *   o:<owner>:sessions               ids of the owner's sessions; an id whose record is gone counts for nothing
 *   o:<owner>:packages               requirements installed for the owner, in order
 *   o:<owner>:usage                  minutes of sandboxes used on one day
 *   o:<owner>:s:<id>:record          the session; its presence alone decides whether the session exists
 *   o:<owner>:s:<id>:b:<sequence>    one block
 *   <key>-<generation>-<index>       parts of a value too large for the store; generation is 0 or 1
 *
 * `<owner>` and `<id>` are encoded, so that one key can never be read as another: unstorage folds `/`, `\`, `::` and cuts
 * at `?`, refuses `.` and `..`, keeps metadata under keys that end in `$`, and some file systems are blind to case.
 */

/** Longest encoded owner or id: file systems stop at 255 bytes a name, Cloudflare KV at 512 a key. */
const MAX_SEGMENT = 200;

/**
 * Returns `text` in `a-z 0-9 - _` alone; different texts give different segments.
 * @throws RangeError when it is empty or its encoded form is longer than 200 characters.
 */
export function encodeSegment(text: string): string {
  const encoded = text.replace(/[^a-z0-9-]/g, (unit) => {
    const code = unit.charCodeAt(0);
    return code < 0x80 ? `_${hex(code, 2)}` : `_u${hex(code, 4)}`;
  });
  if (encoded.length === 0 || encoded.length > MAX_SEGMENT) {
    throw new RangeError(`A key segment has ${encoded.length} encoded characters; 1 to ${MAX_SEGMENT} are allowed`);
  }
  return encoded;
}

/** Can the text be a segment? */
export function isSegment(text: string): boolean {
  try {
    return encodeSegment(text) !== "";
  } catch {
    return false;
  }
}

/** Undoes `encodeSegment`; undefined for what it never returns. */
export function decodeSegment(segment: string): string | undefined {
  if (!/^(?:[a-z0-9-]|_[0-7][0-9a-f]|_u[0-9a-f]{4})+$/.test(segment)) return undefined;
  const text = segment.replace(/_(?:u([0-9a-f]{4})|(..))/g, (_, long?: string, short?: string) =>
    String.fromCharCode(Number.parseInt(long ?? short ?? "", 16)),
  );
  return encodeSegment(text) === segment ? text : undefined;
}

export function ownerKey(owner: string): string {
  return `o:${encodeSegment(owner)}`;
}

export function indexKey(owner: string): string {
  return `${ownerKey(owner)}:sessions`;
}

export function packagesKey(owner: string): string {
  return `${ownerKey(owner)}:packages`;
}

export function usageKey(owner: string): string {
  return `${ownerKey(owner)}:usage`;
}

/** The folder of the owner's sessions. */
export function sessionsKey(owner: string): string {
  return `${ownerKey(owner)}:s`;
}

/** The folder of one session; also the name of its lock. */
export function sessionKey(owner: string, id: string): string {
  return `${sessionsKey(owner)}:${encodeSegment(id)}`;
}

export function recordKey(owner: string, id: string): string {
  return `${sessionKey(owner, id)}:record`;
}

/** @throws RangeError when `sequence` is not a whole number from 0. */
export function blockKey(owner: string, id: string, sequence: number): string {
  if (!Number.isSafeInteger(sequence) || sequence < 0) {
    throw new RangeError(`A block's sequence number is ${sequence}; whole numbers from 0 are allowed`);
  }
  return `${sessionKey(owner, id)}:b:${sequence}`;
}

/** Is this the key of a block, or of a part of one? */
export function isBlockKey(key: string): boolean {
  return /^o:[^:]+:s:[^:]+:b:[0-9-]+$/.test(key);
}

export function partKey(key: string, generation: 0 | 1, index: number): string {
  return `${key}-${generation}-${index}`;
}

/** The session ids whose records are among `keys`. */
export function sessionIdsIn(owner: string, keys: readonly string[]): string[] {
  const prefix = `${sessionsKey(owner)}:`;
  const ids: string[] = [];
  for (const key of keys) {
    if (!key.startsWith(prefix) || !key.endsWith(":record")) continue;
    const id = decodeSegment(key.slice(prefix.length, -":record".length));
    if (id !== undefined) ids.push(id);
  }
  return ids;
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, "0");
}
