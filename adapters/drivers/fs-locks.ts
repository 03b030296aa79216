import { createHash } from "node:crypto";
import {
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { createLeaseLocks, type Lease, type Locks } from "../../src/store/locks.ts";
import { isGone, thisHolder } from "./fs-holder.ts";
import { escapeName } from "./fs-paths.ts";

/** A lock without a sign of life for so long is broken. */
const SILENT_MS = 20_000;
/** How many signs of life a holder gives in that time: it may be too busy for some of them. */
const SIGNS = 4;
/** How often a silent lock must have been looked at meanwhile: the time that a machine slept through counts little. */
const LOOKS_PER_SECOND = 10;
/** The file of a process that is not known to be gone is removed after this. */
const LEFTOVER_MS = 86_400_000;
const SYNC_WAIT_MS = 2_000;
const MAX_WATCHED = 10_000;
const MAX_NAME = 180;
/** What file systems without hard links answer. */
const NO_LINKS = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

type Look = { readonly time: number; readonly text: string };
type Watched = Look & { readonly since: number; looks: number };
/** `mine` is the file that names this process: a lock it holds is a second link to it. */
type Context = { readonly mine: string; readonly silentMs: number; readonly watched: Map<string, Watched> };

/**
 * Locks between processes by files in `folder`, which exist while the lock is held. The lock of a process that is gone
 * is broken at once; where that cannot be known (another machine, another container, Deno without `--allow-run`) after
 * 20 s without a sign of life.
 *
 * A lock is taken by a hard link: like a new file it can be made by one process only, but it is complete from its first
 * moment and takes no inode, which is several times faster.
 * @throws The error of the file system when `folder` cannot be made.
 */
export function createFileLocks(folder: string, silentMs = SILENT_MS): Locks {
  const context = newContext(folder, silentMs);
  return createLeaseLocks(async (key) => acquire(context, join(folder, `${nameOf(key)}.lock`)));
}

/** Runs `task` while no other process runs one with the same key. */
export type SyncLock = <T>(key: string, task: () => T) => T;

/**
 * The same for tasks of microseconds that wait for nothing: the thread sleeps while another process holds the lock, and
 * throws an Error when that lasts for `waitMs`.
 * @throws The error of the file system when `folder` cannot be made.
 */
export function createSyncLock(folder: string, silentMs = SILENT_MS, waitMs = SYNC_WAIT_MS): SyncLock {
  const context = newContext(folder, silentMs);
  return (key, task) => {
    const path = join(folder, `${nameOf(key)}.lock`);
    const began = performance.now();
    for (let pause = 0.05; !tryTake(context, path); pause = Math.min(10, pause * 1.5)) {
      if (performance.now() - began > waitMs) {
        throw new Error(`Another process has held the lock "${key}" for ${waitMs} ms`);
      }
      sleep(pause * (0.5 + Math.random() / 2));
    }
    const taken = performance.now();
    try {
      return task();
    } finally {
      release(context, path, taken);
    }
  };
}

function newContext(folder: string, silentMs: number): Context {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  removeLeftovers(folder);
  return { mine: join(folder, `${process.pid}-${crypto.randomUUID()}.holder`), silentMs, watched: new Map() };
}

function acquire(context: Context, path: string): Lease | undefined {
  if (!tryTake(context, path)) return undefined;
  let sign = performance.now();
  const heartbeat = setInterval(() => {
    ignoring("all", () => touch(path));
    sign = performance.now();
  }, context.silentMs / SIGNS);
  heartbeat.unref();
  return {
    async release() {
      clearInterval(heartbeat);
      release(context, path, sign);
    },
  };
}

/** False when another process holds the lock; when that one is gone, the next try succeeds. */
function tryTake(context: Context, path: string): boolean {
  if (take(context.mine, path)) {
    context.watched.delete(path);
    return true;
  }
  const seen = look(path);
  if (isAbandoned(context, path, seen)) breakLock(path, seen);
  return false;
}

/** @param sign When this process last gave a sign of life. */
function release({ silentMs }: Context, path: string, sign: number): void {
  // After a long silence another process may have broken this lock, and have its own there now.
  const wasSilent = performance.now() - sign > silentMs / 2;
  ignoring("all", () => {
    if (!wasSilent || look(path).text === thisHolder()) unlinkSync(path);
  });
}

/** Is the lock's holder gone, as far as can be known? */
function isAbandoned({ watched, silentMs }: Context, path: string, seen: Look): boolean {
  if (isGone(seen.text)) return true;
  const before = watched.get(path);
  if (before === undefined || !isSame(before, seen)) {
    if (watched.size > MAX_WATCHED) watched.clear();
    watched.set(path, { ...seen, since: performance.now(), looks: 1 });
    return false;
  }
  before.looks += 1;
  return before.looks > (silentMs / 1_000) * LOOKS_PER_SECOND && performance.now() - before.since > silentMs;
}

/**
 * Removes the lock if it still is as it was `seen`. Only who holds the marker may do so: of two that saw the same
 * abandoned lock, the second must not remove the one that the first has taken since.
 */
function breakLock(path: string, seen: Look): void {
  const marker = `${path}.break`;
  if (!create(marker, thisHolder())) {
    const other = look(marker);
    const isOld = Date.now() - other.time > SILENT_MS;
    if (isGone(other.text) || isOld) ignoring(["ENOENT"], () => unlinkSync(marker));
    return;
  }
  try {
    if (isSame(look(path), seen)) ignoring(["ENOENT"], () => unlinkSync(path));
  } finally {
    ignoring(["ENOENT"], () => unlinkSync(marker));
  }
}

/** Makes the lock; false when it is there already, and when the file it links to had to be made first. */
function take(mine: string, path: string): boolean {
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    const code = codeOf(error);
    if (code === "EEXIST") return false;
    if (NO_LINKS.includes(code)) return create(path, thisHolder());
    if (code !== "ENOENT") throw error;
  }
  mkdirSync(dirname(mine), { recursive: true, mode: 0o700 });
  create(mine, thisHolder());
  return false;
}

/** Makes the file with `text`; false when it is there already. */
function create(path: string, text: string): boolean {
  try {
    writeFileSync(path, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    ignoring("all", () => unlinkSync(path));
    throw error;
  }
}

function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

/** What changes when the lock changes hands or its holder gives a sign of life; time 0 when it is not there. */
function look(path: string): Look {
  let seen: Look = { time: 0, text: "" };
  ignoring(["ENOENT"], () => {
    seen = { time: statSync(path).mtimeMs, text: readFileSync(path, "utf8") };
  });
  return seen;
}

function isSame(one: Look, other: Look): boolean {
  return one.time === other.time && one.text === other.text;
}

/** Of servers that were killed: each leaves the file that named it. */
function removeLeftovers(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (!name.endsWith(".holder")) continue;
    const { time, text } = look(join(folder, name));
    const isOld = Date.now() - time > LEFTOVER_MS; // One that is alive makes it again.
    if (isGone(text) || isOld) ignoring(["ENOENT"], () => unlinkSync(join(folder, name)));
  }
}

function nameOf(key: string): string {
  const name = escapeName(key);
  if (name.length <= MAX_NAME) return name;
  const hash = createHash("sha256").update(name).digest("hex");
  return `${name.slice(0, MAX_NAME - hash.length)}.${hash}`;
}

/** Runs `task`; errors with one of the codes are nothing to worry about. */
function ignoring(codes: readonly string[] | "all", task: () => void): void {
  try {
    task();
  } catch (error) {
    if (codes !== "all" && !codes.includes(codeOf(error))) throw error;
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
