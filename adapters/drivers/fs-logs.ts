import { closeSync, constants, existsSync, fstatSync, ftruncateSync, openSync, unlinkSync, writevSync } from "node:fs";
import { dirname } from "node:path";
import { FILE_MODE, ignoreMissing, inFolder, replaceBy } from "./fs-files.ts";
import type { SyncLock } from "./fs-locks.ts";
import {
  decodeRecord,
  encodeRecord,
  encodeRemoved,
  isLive,
  lengthOf,
  newHead,
  type Place,
  readRecord,
} from "./fs-log-format.ts";
import { addPlace, createLogIndexes, dropPlace, type LogIndex, type LogIndexes } from "./fs-log-index.ts";

/** Up to 80 KB each. */
const MAX_INDEXES = 256;
/** Room of removed values that is not worth to be won back. */
const COMPACT_BYTES = 1_048_576;
const BATCH_BYTES = 1_048_576;
/** A reader looks again when a value is replaced or its log written anew under it, each of which takes longer. */
const READ_ATTEMPTS = 16;

/**
 * Values in append-only files: a new file takes a hundred times as long as an append, and four kilobytes of disk. Only
 * the holder of a lock writes to a log; who reads needs none, sees whole values only, and has to read what was appended
 * since, not the whole file. A value that is removed or replaced is overwritten where it was.
 */
export interface FileLogs {
  /** Null when there is none. @throws The error of the file system, also below. */
  read(path: string, slot: number): string | null;
  /** When it throws, the old value is still there. */
  write(path: string, slot: number, text: string): void;
  /** False when the log has other values; else it is not there any more. */
  remove(path: string, slot: number): boolean;
  slots(path: string): number[];
}

export type FileLogsOptions = {
  readonly lock: SyncLock;
  readonly nextTemporary: () => string;
};

type Context = FileLogsOptions & { readonly indexes: LogIndexes };
/** A log that is open for its writer. */
type Writing = Context & { readonly path: string; readonly file: number };

export function createFileLogs(options: FileLogsOptions): FileLogs {
  const context: Context = {
    ...options,
    indexes: createLogIndexes(MAX_INDEXES, COMPACT_BYTES),
  };
  return {
    read: (path, slot) => withLog(path, (file) => readValue(context, path, file, slot)) ?? null,
    write: (path, slot, text) => context.lock(path, () => writeValue(context, path, slot, text)),
    remove(path, slot) {
      // Asking first is cheaper than an exception, and than the lock.
      return !existsSync(path) || context.lock(path, () => removeValue(context, path, slot));
    },
    slots(path) {
      context.indexes.forget(path); // Another process may have removed some.
      return withLog(path, (file) => [...context.indexes.refresh(path, file).places.keys()]) ?? [];
    },
  };
}

/** Undefined when there is no such file. */
function withLog<T>(path: string, task: (file: number) => T, flags = "r"): T | undefined {
  let file: number | undefined;
  ignoreMissing(() => {
    file = openSync(path, flags);
  });
  if (file === undefined) return undefined;
  try {
    return task(file);
  } finally {
    closeSync(file);
  }
}

function readValue({ indexes }: Context, path: string, file: number, slot: number): string | null {
  let before: Place | undefined;
  for (let attempt = 0; attempt < READ_ATTEMPTS; attempt += 1) {
    const place = indexes.refresh(path, file).places.get(slot);
    if (place === undefined) return null;
    const record = readRecord(file, place);
    if (record !== undefined) return decodeRecord(record);
    // What replaced it was appended first; where nothing was, it was removed, or the file edited.
    if (place === before) indexes.forget(path);
    before = place;
  }
  return null;
}

function writeValue(context: Context, path: string, slot: number, text: string): void {
  const flags = constants.O_RDWR | constants.O_CREAT;
  const file = inFolder(dirname(path), () => openSync(path, flags, FILE_MODE));
  const log: Writing = { ...context, path, file };
  try {
    const index = prepare(log);
    append(log, index, slot, encodeRecord(slot, text));
    wipeOutdated(log, index);
    compactIfWorth(log, index);
  } catch (error) {
    context.indexes.forget(path);
    if (fstatSync(file).size === 0) ignoreMissing(() => unlinkSync(path));
    throw error;
  } finally {
    closeSync(file);
  }
}

/** What a writer that was killed left is put in order first. */
function prepare(log: Writing): LogIndex {
  const index = log.indexes.refresh(log.path, log.file);
  if (index.scanned < fstatSync(log.file).size) ftruncateSync(log.file, index.scanned);
  wipeOutdated(log, index);
  return index;
}

function append({ file }: Writing, index: LogIndex, slot: number, record: Buffer): void {
  const head = index.scanned === 0 ? newHead() : Buffer.alloc(0);
  const start = index.scanned + head.length;
  try {
    writeAll(file, [head, record], index.scanned);
  } catch (error) {
    ftruncateSync(file, index.scanned);
    throw error;
  }
  index.scanned = start + record.length;
  addPlace(index, { slot, start, bytes: record.length - lengthOf({ bytes: 0 }) });
}

function wipeOutdated({ file }: Writing, index: LogIndex): void {
  for (const place of index.outdated.splice(0)) wipe(file, place);
}

/** False when the value is not there any more. */
function wipe(file: number, place: Place): boolean {
  if (!isLive(file, place)) return false;
  writeAll(file, [encodeRemoved(place)], place.start);
  return true;
}

function removeValue(context: Context, path: string, slot: number): boolean {
  const isGone = (file: number): boolean => {
    const log: Writing = { ...context, path, file };
    const index = wipeSlot(log, slot);
    if (index.places.size > 0) {
      compactIfWorth(log, index);
      return false;
    }
    unlinkSync(path);
    context.indexes.forget(path);
    return true;
  };
  return withLog(path, isGone, "r+") ?? true;
}

function wipeSlot(log: Writing, slot: number): LogIndex {
  const index = prepare(log);
  const place = index.places.get(slot);
  if (place === undefined) return index;
  if (wipe(log.file, place)) {
    dropPlace(index, place);
    return index;
  }
  log.indexes.forget(log.path); // Another process removed it, and maybe more.
  return wipeSlot(log, slot);
}

/** Writes the log anew without what was removed, when that is the greater part. */
function compactIfWorth(log: Writing, index: LogIndex): void {
  const deadBytes = index.scanned - index.liveBytes;
  if (deadBytes <= Math.max(index.liveBytes, index.compactAt)) return;
  const temporary = log.nextTemporary();
  try {
    replaceBy(temporary, log.path, () => copyLive(log.file, temporary, index));
    log.indexes.forget(log.path);
  } catch {
    index.compactAt = 2 * deadBytes; // The disk is full, perhaps: the log stays as it is, which loses nothing.
  }
}

function copyLive(from: number, temporary: string, index: LogIndex): void {
  const to = openSync(temporary, "wx", FILE_MODE);
  try {
    let batch = [newHead()];
    let batchBytes = 0;
    let at = 0;
    const flush = (): void => {
      at += writeAll(to, batch, at);
      batch = [];
      batchBytes = 0;
    };
    for (const place of index.places.values()) {
      const record = readRecord(from, place);
      if (record === undefined) continue; // Another process removed it.
      batch.push(record);
      batchBytes += record.length;
      if (batchBytes > BATCH_BYTES) flush();
    }
    flush();
  } finally {
    closeSync(to);
  }
}

function writeAll(file: number, parts: readonly Buffer[], start: number): number {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const written = bytes === 0 ? 0 : writevSync(file, parts, start);
  if (written < bytes) throw new Error(`Only ${written} of ${bytes} bytes could be written`);
  return bytes;
}
