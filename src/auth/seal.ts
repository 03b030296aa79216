import { fromBase64, toBase64Url, toHex, utf8 } from "./bytes.ts";

/** Version of the format: `s1.<key id>.<base64url of a 12-byte nonce and the AES-256-GCM ciphertext>`. */
const VERSION = "s1";
const NONCE_BYTES = 12;
const KEY_BYTES = 32;

type NamedKey = { readonly id: string; readonly seal: CryptoKey; readonly sign: CryptoKey };

/** The server's secret: what seals and signs, and earlier keys that still open what they sealed. */
export type SealKey = { readonly current: NamedKey; readonly all: readonly NamedKey[] };

/** A sealed text was changed, belongs elsewhere, or its key is gone. Never holds what was sealed. */
export class SealError extends Error {
  override readonly name = "SealError";
}

/**
 * Reads a setting: one key, or several separated by commas or spaces, of which the first seals and all open, so that
 * a key can be replaced. A key is 32 random bytes in base64; a passphrase is refused, since a sealed text that leaks
 * could be tried against a dictionary.
 * @param setting Name for the error's sentence.
 * @throws Error that names the setting and shows nothing of the key.
 */
export async function importSealKey(text: string, setting = "REPL_SEAL_KEY"): Promise<SealKey> {
  const keys: NamedKey[] = [];
  for (const item of text.split(/[\s,]+/).filter((part) => part !== "")) {
    const bytes = fromBase64(item);
    if (bytes?.length !== KEY_BYTES) {
      const found = bytes === undefined ? "other characters" : `${bytes.length} bytes`;
      throw new Error(
        `${setting} must be ${KEY_BYTES} random bytes in base64 (openssl rand -base64 32), but has ${found}`,
      );
    }
    keys.push(await deriveKeys(bytes));
  }
  const [current] = keys;
  if (current === undefined) throw new Error(`${setting} must be ${KEY_BYTES} random bytes in base64, but is empty`);
  return { current, all: keys };
}

/** Is the text what `importSealKey` takes? */
export function isSealKey(text: string): boolean {
  const items = text.split(/[\s,]+/).filter((part) => part !== "");
  return items.length > 0 && items.every((item) => fromBase64(item)?.length === KEY_BYTES);
}

/** Makes a key that lives as long as the process. Not at module scope: Workers has no randomness there. */
export async function randomSealKey(): Promise<SealKey> {
  const current = await deriveKeys(crypto.getRandomValues(new Uint8Array(KEY_BYTES)));
  return { current, all: [current] };
}

/**
 * Seals a JSON value. Only `openJson` with the same context reads it.
 * @param context Where it belongs, such as owner and session: a copy in another place does not open.
 */
export async function sealJson(key: SealKey, value: unknown, context = ""): Promise<string> {
  const { id, seal } = key.current;
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const plain = utf8(JSON.stringify(value));
  const cipher = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: nonce, additionalData: bound(id, context) },
    seal,
    plain,
  );
  const bytes = new Uint8Array(NONCE_BYTES + cipher.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(cipher), NONCE_BYTES);
  return `${VERSION}.${id}.${toBase64Url(bytes)}`;
}

/** Opens what `sealJson` sealed. @throws SealError. */
export async function openJson(key: SealKey, text: string, context = ""): Promise<unknown> {
  const [version, id, body, ...rest] = text.split(".");
  const bytes = body === undefined ? undefined : fromBase64(body);
  if (
    version !== VERSION ||
    id === undefined ||
    bytes === undefined ||
    bytes.length <= NONCE_BYTES ||
    rest.length > 0
  ) {
    throw new SealError("The text is not a sealed value of this version");
  }
  const found = key.all.find((candidate) => candidate.id === id);
  if (found === undefined) throw new SealError("The value was sealed with a key that this server does not have");
  const iv = bytes.slice(0, NONCE_BYTES);
  let plain: ArrayBuffer;
  try {
    const algorithm = { name: "AES-GCM", iv, additionalData: bound(id, context) };
    plain = await crypto.subtle.decrypt(algorithm, found.seal, bytes.slice(NONCE_BYTES));
  } catch (cause) {
    throw new SealError("The sealed value was changed or belongs elsewhere", { cause });
  }
  return JSON.parse(new TextDecoder().decode(plain));
}

/** Returns a signature of `text` in base64url, for values that need not be secret. */
export async function sign(key: SealKey, text: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.sign("HMAC", key.current.sign, utf8(text))));
}

/** Checks a signature in constant time; earlier keys count too. */
export async function verifySignature(key: SealKey, text: string, signature: string): Promise<boolean> {
  const bytes = fromBase64(signature);
  if (bytes === undefined) return false;
  for (const candidate of key.all) {
    if (await crypto.subtle.verify("HMAC", candidate.sign, bytes, utf8(text))) return true;
  }
  return false;
}

function bound(id: string, context: string): Uint8Array<ArrayBuffer> {
  return utf8(`${VERSION}.${id}.${context}`);
}

/** One secret, three purposes that know nothing of each other (HKDF, RFC 5869). */
async function deriveKeys(secret: Uint8Array<ArrayBuffer>): Promise<NamedKey> {
  const root = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits", "deriveKey"]);
  const purpose = (name: string): HkdfParams => ({
    name: "HKDF",
    hash: "SHA-256",
    salt: new Uint8Array(),
    info: utf8(`edge-python-repl ${name} 1`),
  });
  const aes = { name: "AES-GCM", length: 256 };
  const hmac = { name: "HMAC", hash: "SHA-256", length: 256 };
  return {
    id: toHex(new Uint8Array(await crypto.subtle.deriveBits(purpose("id"), root, 64))),
    seal: await crypto.subtle.deriveKey(purpose("seal"), root, aes, false, ["encrypt", "decrypt"]),
    sign: await crypto.subtle.deriveKey(purpose("sign"), root, hmac, false, ["sign", "verify"]),
  };
}
