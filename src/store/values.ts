import type { Storage } from "unstorage";
import { AppError } from "../core/errors.ts";
import { mapBounded } from "./bounded.ts";
import { partKey } from "./keys.ts";

/**
 * Whole values over an unstorage `Storage`: what is read is what one call wrote, whatever fails or runs beside it.
 * Any failure of the driver is an AppError STORAGE_UNAVAILABLE.
 */
export interface Values {
  /** Undefined when there is none; so it is for a damaged one, with the reason logged. */
  read(key: string): Promise<unknown>;
  /** `value` must be plain JSON. When it rejects, the old value is still there, or the new one is, whole. */
  write(key: string, value: object): Promise<void>;
  /** Removing what is not there is no error. */
  remove(key: string): Promise<void>;
  keys(base: string): Promise<string[]>;
}

export type ValuesOptions = {
  readonly storage: Storage;
  /** The store's own limit for one value, in bytes; a larger one is cut into parts. Absent: no limit. */
  readonly maxValueBytes?: number | undefined;
  readonly log?: (message: string) => void;
};

/** `value` itself, or where the text of an envelope with it lies: `count` parts that carry the same `id`. */
type Envelope = { v: 1; value?: unknown; parts?: PartsRef };
type PartsRef = { id: string; generation: 0 | 1; count: number };
type Part = { v: 1; of: string; text: string };

type Context = ValuesOptions;

const UNAVAILABLE = "The history store failed on this call; try again, and see the log of the server if that goes on";
const PARALLEL = 8;
/** Room for the envelope around a part. */
const PART_OVERHEAD = 128;
/** Of a head edited by hand; a real value is bounded by what writes it. */
const MAX_PARTS = 65_536;
/** A reader meets parts that change under it only while a writer replaces a large value. */
const READ_ATTEMPTS = 4;

export function createValues(options: ValuesOptions): Values {
  return {
    read: (key) => readValue(options, key),
    write: (key, value) => writeValue(options, key, value),
    remove: (key) => removeValue(options, key),
    keys: (base) => guarded(() => options.storage.getKeys(base)),
  };
}

/** Runs `task`; turns what it throws into STORAGE_UNAVAILABLE. */
export async function guarded<T>(task: () => Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (error instanceof AppError) throw error;
    throw new AppError("STORAGE_UNAVAILABLE", UNAVAILABLE, {
      cause: error,
    });
  }
}

async function readValue(context: Context, key: string): Promise<unknown> {
  for (let attempt = 1; ; attempt += 1) {
    const found = await get(context, key);
    if (found === null || found === undefined) return undefined;
    if (!isEnvelope(found)) return damaged(context, key, "it is not an envelope of version 1");
    if (found.parts === undefined) return found.value;
    const text = await readParts(context, key, found.parts);
    if (text !== undefined) return parse(context, key, text);
    if (attempt === READ_ATTEMPTS) return damaged(context, key, "parts of it are missing");
  }
}

async function readParts(context: Context, key: string, ref: PartsRef): Promise<string | undefined> {
  const read = async (index: number): Promise<string | undefined> => {
    const part = await get(context, partKey(key, ref.generation, index));
    return isPart(part) && part.of === ref.id ? part.text : undefined;
  };
  // The last one first: a head edited by hand may name any number of parts that are not there.
  const last = await read(ref.count - 1);
  if (last === undefined) return undefined;
  const texts = await mapBounded([...Array(ref.count - 1).keys()], PARALLEL, read);
  return texts.includes(undefined) ? undefined : texts.join("") + last;
}

/**
 * The head decides which value holds: parts are written under the generation that the present head does not use, then
 * the head, then the old parts go. Nothing is read first unless the value is large.
 */
async function writeValue(context: Context, key: string, value: object): Promise<void> {
  const text = JSON.stringify({ v: 1, value });
  const limit = context.maxValueBytes;
  if (limit === undefined || fits(text, limit)) return set(context, key, text);
  const before = await get(context, key);
  const old = isEnvelope(before) ? before.parts : undefined;
  const ref = await writeParts(context, key, old?.generation === 0 ? 1 : 0, text, limit);
  await set(context, key, JSON.stringify({ v: 1, parts: ref } satisfies Envelope));
  if (old !== undefined) await discard(context, key, () => removeParts(context, key, old.generation));
}

async function writeParts(
  context: Context,
  key: string,
  generation: 0 | 1,
  text: string,
  limit: number,
): Promise<PartsRef> {
  // JSON text escapes all control characters and lone surrogates: inside a second JSON string no unit exceeds 3 bytes.
  const units = Math.floor((limit - PART_OVERHEAD) / 3);
  if (units < 1) throw new RangeError(`maxValueBytes is ${limit}; at least ${PART_OVERHEAD + 3} is needed`);
  const id = crypto.randomUUID();
  const count = Math.ceil(text.length / units);
  const write = (index: number): Promise<void> => {
    const part: Part = { v: 1, of: id, text: text.slice(index * units, (index + 1) * units) };
    return set(context, partKey(key, generation, index), JSON.stringify(part));
  };
  // In rows, so that what a crash leaves can be found again: no part exists more than one row behind the last.
  await write(0);
  for (let start = 1; start < count; start += PARALLEL) {
    await Promise.all(
      row(start)
        .filter((index) => index < count)
        .map(write),
    );
  }
  return { id, generation, count };
}

async function removeValue(context: Context, key: string): Promise<void> {
  await guarded(() => context.storage.removeItem(key));
  if (context.maxValueBytes === undefined) return;
  await removeParts(context, key, 0);
  await removeParts(context, key, 1);
}

/** Removes the parts of one generation, those of a write that never came to its head too, without knowing how many. */
async function removeParts(context: Context, key: string, generation: 0 | 1): Promise<void> {
  const has = (index: number): Promise<boolean> =>
    guarded(() => context.storage.hasItem(partKey(key, generation, index)));
  const remove = (index: number): Promise<void> =>
    guarded(() => context.storage.removeItem(partKey(key, generation, index)));
  if (!(await has(0))) return;
  let end = 1;
  while ((await Promise.all(row(end).map(has))).includes(true)) end += PARALLEL;
  // From the last row back: when this is cut off, what is left can be found the same way.
  for (let start = end - PARALLEL; start >= 1; start -= PARALLEL) await Promise.all(row(start).map(remove));
  await remove(0);
}

/** The value holds already; parts that could not be removed are removed with it or by the next large one. */
async function discard(context: Context, key: string, task: () => Promise<void>): Promise<void> {
  try {
    await task();
  } catch (error) {
    context.log?.(`Old parts of ${key} could not be removed: ${String(error)}`);
  }
}

function get(context: Context, key: string): Promise<unknown> {
  return guarded(() => context.storage.getItem(key));
}

/** Stores JSON text as it is: `setItem` writes a string unchanged, and the reader parses it. */
function set(context: Context, key: string, text: string): Promise<void> {
  return guarded(() => context.storage.setItem(key, text));
}

function fits(text: string, limit: number): boolean {
  if (text.length * 3 <= limit) return true;
  return text.length <= limit && new TextEncoder().encode(text).byteLength <= limit;
}

function row(start: number): number[] {
  return Array.from({ length: PARALLEL }, (_, offset) => start + offset);
}

function parse(context: Context, key: string, text: string): unknown {
  try {
    const whole: unknown = JSON.parse(text);
    return isEnvelope(whole) ? whole.value : damaged(context, key, "its parts hold no envelope");
  } catch (error) {
    return damaged(context, key, `its parts are not JSON (${String(error)})`);
  }
}

function damaged(context: Context, key: string, reason: string): undefined {
  context.log?.(`The stored value ${key} is taken as absent: ${reason}`);
  return undefined;
}

function isEnvelope(value: unknown): value is Envelope {
  if (typeof value !== "object" || value === null || !("v" in value) || value.v !== 1) return false;
  if ("value" in value) return true;
  return "parts" in value && isPartsRef(value.parts);
}

function isPartsRef(ref: unknown): ref is PartsRef {
  if (typeof ref !== "object" || ref === null) return false;
  if (!("id" in ref && "generation" in ref && "count" in ref)) return false;
  if (typeof ref.id !== "string" || (ref.generation !== 0 && ref.generation !== 1)) return false;
  return typeof ref.count === "number" && Number.isInteger(ref.count) && ref.count > 0 && ref.count <= MAX_PARTS;
}

function isPart(value: unknown): value is Part {
  return (
    typeof value === "object" && value !== null && "of" in value && "text" in value && typeof value.text === "string"
  );
}
