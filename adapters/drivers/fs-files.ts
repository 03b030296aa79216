import { mkdirSync, readdirSync, renameSync, rmdirSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";

export const FOLDER_MODE = 0o700;
export const FILE_MODE = 0o600;

/** Temporary files of a server that was killed are removed after this. */
const LEFTOVER_MS = 3_600_000;
/** How often a folder that another process removes, because it was empty, is made again. */
const PLACE_ATTEMPTS = 8;

/** Writes `content` to a temporary file and renames that to `path`. @throws The error of the file system. */
export function place(temporary: string, path: string, content: string | Buffer): void {
  replaceBy(temporary, path, () => writeFileSync(temporary, content, { flag: "wx", mode: FILE_MODE }));
}

/** The same with a file that `write` makes; what it has made is removed when anything fails. */
export function replaceBy(temporary: string, path: string, write: () => void): void {
  try {
    inFolder(dirname(temporary), write);
    inFolder(dirname(path), () => renameSync(temporary, path));
  } catch (error) {
    ignoreMissing(() => unlinkSync(temporary));
    throw error;
  }
}

/** Runs `task`, which needs `folder`, and makes the folder when it is missing. */
export function inFolder<T>(folder: string, task: () => T): T {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return task();
    } catch (error) {
      if (!isMissing(error) || attempt === PLACE_ATTEMPTS) throw error;
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    }
  }
}

/** Removes the folder and those above it, up to but without `root`, as far as they are empty. */
export function removeEmptyFolders(folder: string, root: string): void {
  for (let next = folder; next !== root; next = dirname(next)) {
    if (!removeIfEmpty(next)) return;
  }
}

function removeIfEmpty(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false; // Not empty, or gone already: either way there is nothing to do.
  }
}

/** Makes names in `folder` that no other process makes. */
export function temporaryNames(folder: string): () => string {
  const mine = `${process.pid}-${crypto.randomUUID()}`;
  let count = 0;
  return () => {
    count += 1;
    return join(folder, `${mine}-${count}`);
  };
}

export function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    ignoreMissing(() => {
      if (Date.now() - statSync(join(folder, name)).mtimeMs > LEFTOVER_MS) unlinkSync(join(folder, name));
    });
  }
}

export function ignoreMissing(task: () => void): void {
  try {
    task();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
