import { existsSync, mkdirSync, readdirSync, readFileSync, unlinkSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import type { Driver } from "unstorage";
import { FOLDER_MODE, ignoreMissing, place, removeEmptyFolders, removeLeftovers, temporaryNames } from "./fs-files.ts";
import { createSyncLock } from "./fs-locks.ts";
import { createFileLogs, type FileLogs } from "./fs-logs.ts";
import { MAX_PAIR_BYTES, newPair, readPair, rewritePair } from "./fs-pair.ts";
import { firstOf, isFolderPart, logOf, namesOf, PAIR, PLAIN, pathOf, unescapeName } from "./fs-paths.ts";

/** How often a reader looks again when a value is being replaced under it. */
const READ_ATTEMPTS = 4;

/**
 * Files below `root`, readable by their owner alone: numbered values by the thousand in a log, each other one in a file.
 * A reader sees the old value or the new one, never a part, also from another process and after a kill. Values reach the
 * disk when the operating system writes them: they outlive any crash of this program but, for about the last half minute,
 * not a loss of power.
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
  const exclusively = createSyncLock(join(root, "locks"));
  // By its name below the root, which another server may know by another path.
  const logs = createFileLogs({ nextTemporary, lock: (path, task) => exclusively(relative(data, path), task) });
  const getItem = (key: string): string | null => {
    const log = logOf(data, key);
    return log === undefined ? read(pathOf(data, key)) : logs.read(log.path, log.slot);
  };
  const removeItem = (key: string): void => {
    const log = logOf(data, key);
    const path = log?.path ?? pathOf(data, key);
    if (log === undefined) remove(path);
    else if (!logs.remove(path, log.slot)) return;
    removeEmptyFolders(dirname(path), data);
  };
  const getKeys = (base = ""): string[] => keysBelow(logs, pathOf(data, base), namesOf(base));
  return {
    name: "fs-atomic",
    options: { root },
    hasItem: (key) => getItem(key) !== null,
    getItem,
    setItem(key, value) {
      const log = logOf(data, key);
      if (log === undefined) write(pathOf(data, key), nextTemporary, value);
      else logs.write(log.path, log.slot, value);
    },
    removeItem,
    getKeys,
    clear(base) {
      for (const key of getKeys(base)) removeItem(key);
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

function remove(path: string): void {
  // In this order: the other would bring an older value back for a moment.
  ignoreMissing(() => unlinkSync(path + PLAIN));
  ignoreMissing(() => unlinkSync(path + PAIR));
}

function keysBelow(logs: FileLogs, folder: string, names: readonly string[], begun = ""): string[] {
  const keys = new Set<string>();
  for (const entry of existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []) {
    const name = begun + entry.name;
    const inside = join(folder, entry.name);
    if (entry.isDirectory()) {
      const below = isFolderPart(name)
        ? keysBelow(logs, inside, names, name.slice(0, -1))
        : keysBelow(logs, inside, [...names, name]);
      for (const key of below) keys.add(key);
    } else if (entry.isFile()) {
      for (const last of segmentsIn(logs, inside, name)) {
        const key = [...names, last].map(unescapeName);
        if (!key.includes(undefined)) keys.add(key.join(":"));
      }
    }
  }
  return [...keys];
}

/** The last segments, escaped, of the keys whose values the file holds. */
function segmentsIn(logs: FileLogs, path: string, name: string): string[] {
  if (name.endsWith(PLAIN) || name.endsWith(PAIR)) return [name.slice(0, -PLAIN.length)];
  const first = firstOf(name);
  return first === undefined ? [] : logs.slots(path).map((slot) => String(first + slot));
}
