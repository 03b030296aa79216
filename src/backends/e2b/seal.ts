const IV_BYTES = 12;

/** Encrypts small secrets with a key derived from a text; bound to a name, so that they cannot be moved. */
export type Seal = {
  seal(value: unknown, name: string): Promise<string>;
  /** Resolves to undefined when it was sealed with another key or for another name, or is not whole. */
  open(sealed: string, name: string): Promise<unknown>;
};

/** AES-GCM with SHA-256 of `keyText`, which must hold enough chance to be a key. */
export function createSeal(keyText: string): Seal {
  let key: Promise<CryptoKey> | undefined;
  const load = (): Promise<CryptoKey> => {
    key ??= importKey(keyText);
    return key;
  };
  return {
    async seal(value, name) {
      const iv = crypto.getRandomValues(new Uint8Array(IV_BYTES));
      const plain = new TextEncoder().encode(JSON.stringify(value));
      const sealed = await crypto.subtle.encrypt(parameters(iv, name), await load(), plain);
      return toBase64(iv) + toBase64(new Uint8Array(sealed));
    },
    async open(sealed, name) {
      try {
        const iv = fromBase64(sealed.slice(0, 16));
        const plain = await crypto.subtle.decrypt(parameters(iv, name), await load(), fromBase64(sealed.slice(16)));
        return JSON.parse(new TextDecoder().decode(plain)) as unknown;
      } catch {
        return undefined; // not ours, which the caller is told by the missing value
      }
    },
  };
}

async function importKey(keyText: string): Promise<CryptoKey> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(keyText));
  return crypto.subtle.importKey("raw", digest, "AES-GCM", false, ["encrypt", "decrypt"]);
}

function parameters(iv: Uint8Array<ArrayBuffer>, name: string): AesGcmParams {
  return { name: "AES-GCM", iv, additionalData: new TextEncoder().encode(name) };
}

export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

/** @throws DOMException for text that is not base64. */
export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
