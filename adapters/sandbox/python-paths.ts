import { lstat, readdir, readlink, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** What of the file system an interpreter needs beyond the system's own folders. */
export type PythonPaths = {
  /** Folders to show as they are. */
  readonly folders: readonly string[];
  /** Symbolic links on the way to the program. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
};

const MAX_HOPS = 20;

/**
 * Finds what to show of an interpreter and of the folders it imports from.
 * @param keepOut Folders that must stay hidden: what contains one of them is left out.
 */
export async function pythonPaths(
  executable: string,
  importPaths: readonly string[],
  keepOut: readonly string[],
): Promise<PythonPaths> {
  const folders = new Set<string>();
  const links: { path: string; target: string }[] = [];
  const add = (folder: string): void => {
    if (!keepOut.some((hidden) => isWithin(hidden, folder))) folders.add(folder);
  };
  for (const hop of await hopsTo(executable)) {
    const prefix = dirname(dirname(hop.path));
    if (await isPythonPrefix(prefix)) add(prefix);
    else if (hop.target !== undefined) links.push({ path: hop.path, target: hop.target });
    else add(dirname(hop.path));
  }
  for (const path of importPaths) {
    if (await isFolder(path)) add(path);
  }
  const outermost = [...folders].filter((folder) => ![...folders].some((o) => o !== folder && isWithin(folder, o)));
  return { folders: outermost, links: links.filter(({ path }) => !outermost.some((o) => isWithin(path, o))) };
}

/** Is `path` the folder itself or below it? */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

type Hop = { readonly path: string; readonly target?: string };

/** The program's path, and where each link on the way leads; the real path last. */
async function hopsTo(executable: string): Promise<Hop[]> {
  const hops: Hop[] = [];
  let path = executable;
  for (let count = 0; count < MAX_HOPS && (await lstat(path)).isSymbolicLink(); count += 1) {
    const target = await readlink(path);
    hops.push({ path, target });
    path = resolve(dirname(path), target);
  }
  hops.push({ path });
  const real = await realpath(path);
  return real === path ? hops : [...hops, { path: real }];
}

async function isPythonPrefix(folder: string): Promise<boolean> {
  const names = await namesIn(folder);
  if (names.includes("pyvenv.cfg")) return true;
  const libraries = await Promise.all(["lib", "lib64"].map((name) => namesIn(join(folder, name))));
  return libraries.flat().some((name) => /^python3\.\d+$/.test(name));
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}
