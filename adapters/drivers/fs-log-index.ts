import { fstatSync, readSync } from "node:fs";
import { HEAD_BYTES, isThere, lengthOf, type Place, scanLog } from "./fs-log-format.ts";

/** Where the values of a log are. Another process may have removed some of them since. */
export type LogIndex = {
  /** Tells this file from one that took its place. */
  id: string;
  /** Up to where the log was read; a record that is not whole begins there. */
  scanned: number;
  /** The last value that was found, there still or not. */
  last?: Place;
  readonly places: Map<number, Place>;
  /** Values that have a later one: their writer was killed before it could remove them. */
  readonly outdated: Place[];
  /** Bytes of the records at `places`. */
  liveBytes: number;
  /** With so many bytes of others it is written anew. */
  compactAt: number;
};

export interface LogIndexes {
  /** The index of the open log, with what was appended since. @throws The error of the file system. */
  refresh(path: string, file: number): LogIndex;
  /** Lets the next refresh read the log anew. */
  forget(path: string): void;
}

/** Keeps the indexes of the `limit` logs that were used last. */
export function createLogIndexes(limit: number, compactAt: number): LogIndexes {
  const indexes = new Map<string, LogIndex>();
  return {
    forget: (path) => void indexes.delete(path),
    refresh(path, file) {
      const { size, ino } = fstatSync(file);
      const id = `${ino} ${headOf(file)}`;
      const known = indexes.get(path);
      const isSame = known?.id === id && hasOnlyGrown(known, file, size);
      const index = isSame ? known : { id, scanned: 0, places: new Map(), outdated: [], liveBytes: 0, compactAt };
      indexes.delete(path);
      indexes.set(path, index);
      if (indexes.size > limit) indexes.delete(indexes.keys().next().value ?? path);
      scanOn(index, file, size);
      return index;
    },
  };
}

/** To where the file ends: of a value that is replaced meanwhile, the earlier may be gone and the later not be read. */
function scanOn(index: LogIndex, file: number, size: number): void {
  for (let [from, to] = [index.scanned, size]; from < to; [from, to] = [to, fstatSync(file).size]) {
    index.scanned = scanLog(file, index.scanned, to, (place) => addPlace(index, place));
  }
}

/** An edit in its place moves what was there, mostly. */
function hasOnlyGrown({ scanned, last }: LogIndex, file: number, size: number): boolean {
  return size === scanned || (size > scanned && (last === undefined || isThere(file, last)));
}

/** The value's latest place. */
export function addPlace(index: LogIndex, place: Place): void {
  const earlier = index.places.get(place.slot);
  if (earlier !== undefined) {
    index.outdated.push(earlier);
    index.liveBytes -= lengthOf(earlier);
  }
  index.places.set(place.slot, place);
  index.last = place;
  index.liveBytes += lengthOf(place);
}

export function dropPlace(index: LogIndex, place: Place): void {
  index.places.delete(place.slot);
  index.liveBytes -= lengthOf(place);
}

function headOf(file: number): string {
  const head = Buffer.allocUnsafe(HEAD_BYTES);
  return head.toString("latin1", 0, readSync(file, head, 0, HEAD_BYTES, 0));
}
