import { importSealKey, openJson, type SealKey, sealJson } from "../../auth/seal.ts";

/** Encrypts small secrets, bound to a name, so that they cannot be moved. */
export type Seal = {
  seal(value: unknown, name: string): Promise<string>;
  /** Resolves to undefined when it was sealed with another key or for another name, or is not whole. */
  open(sealed: string, name: string): Promise<unknown>;
};

/** Seals with `REPL_SEAL_KEY`, as `importSealKey` reads it; a text that is no such key rejects the first use. */
export function createSeal(keys: string): Seal {
  let imported: Promise<SealKey> | undefined;
  const load = (): Promise<SealKey> => {
    imported ??= importSealKey(keys);
    return imported;
  };
  return {
    seal: async (value, name) => sealJson(await load(), value, name),
    async open(sealed, name) {
      const key = await load();
      return openJson(key, sealed, name).catch(() => undefined); // Not ours: the caller is told by the missing value.
    },
  };
}
