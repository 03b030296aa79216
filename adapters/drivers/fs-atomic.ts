import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import type { Driver } from "unstorage";
import { MAX_PAIR_BYTES, newPair, readPair, rewritePair } from "./fs-pair.ts";
import { isFolderPart, namesOf, PAIR, PLAIN, pathOf, unescapeName } from "./fs-paths.ts";

/** Temporary files of a server that was killed are removed after this. */
const LEFTOVER_MS = 3_600_000;
const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** How often a folder that another process removes, because it was empty, is made again. */
const PLACE_ATTEMPTS = 8;
/** How often a reader looks again when a value is being replaced under it. */
const READ_ATTEMPTS = 4;

/**
 * Files below `root`, readable by their owner alone. A reader sees the old value or the new one, never a part, also
 * from another process and after a kill. Values reach the disk when the operating system writes them: they outlive any
 * crash of this program but, for about the last half minute, not a loss of power.
 *
 * Calls are synchronous: for values of a few kilobytes that takes a fifth of the time of the asynchronous ones.
 * Processes that replace the same key need a lock; those that only read it do not.
 * @throws The error of the file system when `root` cannot be made.
 */
export function createFsDriver(root: string): Driver {
  const data = join(root, "data");
  const temporary = join(root, "tmp");
  mkdirSync(data, { recursive: true, mode: FOLDER_MODE });
  mkdirSync(temporary, { recursive: true, mode: FOLDER_MODE });
  removeLeftovers(temporary);
  const nextTemporary = temporaryNames(temporary);
  return {
    name: "fs-atomic",
    options: { root },
    hasItem: (key) => read(pathOf(data, key)) !== null,
    getItem: (key) => read(pathOf(data, key)),
    setItem: (key, value) => write(pathOf(data, key), nextTemporary, value),
    removeItem: (key) => remove(pathOf(data, key), data),
    getKeys: (base = "") => keysBelow(pathOf(data, base), namesOf(base)),
    clear(base = "") {
      for (const key of keysBelow(pathOf(data, base), namesOf(base))) remove(pathOf(data, key), data);
    },
  };
}

/** Which file counts is decided by one rename or removal: the pair does, wherever it exists. */
function write(path: string, nextTemporary: () => string, value: string): void {
  const plain = path + PLAIN;
  const pair = path + PAIR;
  const hasPair = existsSync(pair);
  const isSmall = Buffer.byteLength(value) <= MAX_PAIR_BYTES;
  if (hasPair && isSmall && rewritePair(pair, value)) return;
  if (isSmall && (hasPair || existsSync(plain))) {
    place(nextTemporary(), pair, newPair(value));
    if (!hasPair) ignoreMissing(() => unlinkSync(plain));
  } else {
    place(nextTemporary(), plain, value);
    if (hasPair) ignoreMissing(() => unlinkSync(pair));
  }
}

/** Writes `content` to a temporary file and renames that to `path`. */
function place(temporary: string, path: string, content: string | Buffer): void {
  try {
    inFolder(dirname(temporary), () => writeFileSync(temporary, content, { flag: "wx", mode: FILE_MODE }));
    inFolder(dirname(path), () => renameSync(temporary, path));
  } catch (error) {
    ignoreMissing(() => unlinkSync(temporary));
    throw error;
  }
}

/** Looks again when it finds none: a value that goes from one kind of file to the other may be missed in both. */
function read(path: string): string | null {
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt += 1) {
    const value = readIfThere(path + PAIR, readPair) ?? readIfThere(path + PLAIN, textOf);
    if (value !== undefined) return value;
  }
  // A damaged pair is given as it is, for the caller to see that there is something and that it makes no sense.
  return readIfThere(path + PAIR, textOf) ?? null;
}

function textOf(file: string): string {
  return readFileSync(file, "utf8");
}

function readIfThere(file: string, reader: (file: string) => string | undefined): string | undefined {
  let text: string | undefined;
  // Asking first is cheaper than an exception.
  if (existsSync(file)) {
    ignoreMissing(() => {
      text = reader(file);
    });
  }
  return text;
}

function remove(path: string, root: string): void {
  // In this order: the other would bring an older value back for a moment.
  ignoreMissing(() => unlinkSync(path + PLAIN));
  ignoreMissing(() => unlinkSync(path + PAIR));
  for (let folder = dirname(path); folder !== root; folder = dirname(folder)) {
    if (!removeIfEmpty(folder)) return;
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

/** Runs `task`, which needs `folder`, and makes the folder when it is missing. */
function inFolder(folder: string, task: () => void): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      task();
      return;
    } catch (error) {
      if (!isMissing(error) || attempt === PLACE_ATTEMPTS) throw error;
      mkdirSync(folder, { recursive: true, mode: FOLDER_MODE });
    }
  }
}

function keysBelow(folder: string, names: readonly string[], begun = ""): string[] {
  const keys = new Set<string>();
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const name = begun + entry.name;
    const inside = join(folder, entry.name);
    if (entry.isFile() && (name.endsWith(PLAIN) || name.endsWith(PAIR))) {
      const key = [...names, name.slice(0, -PLAIN.length)].map(unescapeName);
      if (!key.includes(undefined)) keys.add(key.join(":"));
    } else if (entry.isDirectory()) {
      const below = isFolderPart(name)
        ? keysBelow(inside, names, name.slice(0, -1))
        : keysBelow(inside, [...names, name]);
      for (const key of below) keys.add(key);
    }
  }
  return [...keys];
}

function temporaryNames(folder: string): () => string {
  const mine = `${process.pid}-${crypto.randomUUID()}`;
  let count = 0;
  return () => {
    count += 1;
    return join(folder, `${mine}-${count}`);
  };
}

function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    ignoreMissing(() => {
      if (Date.now() - statSync(join(folder, name)).mtimeMs > LEFTOVER_MS) unlinkSync(join(folder, name));
    });
  }
}

function ignoreMissing(task: () => void): void {
  try {
    task();
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
