import { readdir } from "node:fs/promises";
import type { InstallReply } from "../../core/backend.ts";

/** Name, as PEP 503 normalises it, to version. */
export type Distributions = ReadonlyMap<string, string>;

const METADATA = /^(?<name>[A-Za-z0-9._]+?)-(?<version>[^-]+?)(?:-py\d[\d.]*)?\.(?:dist|egg)-info$/;

/** What is installed in these folders, by the names of the metadata folders; an earlier folder hides a later one. */
export async function readDistributions(folders: readonly string[]): Promise<Distributions> {
  const found = new Map<string, string>();
  for (const names of await Promise.all(folders.map(namesIn))) {
    for (const name of names) {
      const parts = METADATA.exec(name)?.groups;
      const key = parts?.name?.replace(/[-_.]+/g, "-").toLowerCase();
      if (key !== undefined && parts?.version !== undefined && !found.has(key)) found.set(key, parts.version);
    }
  }
  return found;
}

/**
 * What an installation changed.
 * @param visible All that could be imported before it.
 * @param before What its own folders held before it, and `after`: what they hold now.
 */
export function compareDistributions(
  visible: Distributions,
  before: Distributions,
  after: Distributions,
): InstallReply {
  const changed = [...after].filter(([name, version]) => before.get(name) !== version).sort();
  const replaced = changed.filter(([name, version]) => visible.has(name) && visible.get(name) !== version);
  return {
    installed: changed.map(([name, version]) => `${name} ${version}`),
    replaced: replaced.map(([name]) => name),
  };
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // A folder of the import path that is missing, a file or unreadable holds nothing to import.
  }
}
