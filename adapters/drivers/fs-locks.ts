import { createHash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readFileSync, statSync, unlinkSync, utimesSync, writeSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { createLeaseLocks, type Lease, type Locks } from "../../src/store/locks.ts";
import { escapeName } from "./fs-paths.ts";

/** A lock that is held longer shows by the time of its file that its holder lives. */
const HEARTBEAT_MS = 5_000;
/** A lock without a sign of life for so long is broken. Four heartbeats: a holder may be busy for some of them. */
const SILENT_MS = 20_000;
/** And looked at so often meanwhile: time that a sleeping machine slept through counts little. */
const SILENT_LOOKS = 200;
const MAX_WATCHED = 10_000;
const MAX_NAME = 180;
const INSTANCE = Symbol.for("edge-python-repl.instance");

/** Who holds a lock: enough to see that it is gone. */
type Holder = { readonly host: string; readonly pid: number; readonly instance: string };
type Look = { readonly time: number; readonly text: string };
type Watched = Look & { readonly since: number; looks: number };
type Context = { readonly me: Holder; readonly mine: string; readonly watched: Map<string, Watched> };

/**
 * Locks between processes by files in `folder`, which exist while the lock is held. The lock of a process that is gone
 * is broken at once; where that cannot be known (another machine, another container, Deno without `--allow-run`) after
 * 20 s without a sign of life.
 * @throws The error of the file system when `folder` cannot be made.
 */
export function createFileLocks(folder: string): Locks {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const me: Holder = { host: host(), pid: process.pid, instance: instance() };
  const context: Context = { me, mine: JSON.stringify(me), watched: new Map() };
  return createLeaseLocks(async (key) => acquire(context, lockPath(folder, key)));
}

function acquire(context: Context, path: string): Lease | undefined {
  if (!create(path, context.mine)) {
    const seen = look(path);
    if (isAbandoned(context, path, seen)) breakLock(path, seen);
    return undefined;
  }
  context.watched.delete(path);
  const heartbeat = setInterval(() => ignoring(["ENOENT"], () => touch(path)), HEARTBEAT_MS);
  heartbeat.unref();
  const taken = performance.now();
  return {
    async release() {
      clearInterval(heartbeat);
      // After a long silence another process may have broken this lock, and have its own there now.
      const isOld = performance.now() - taken > HEARTBEAT_MS;
      ignoring("all", () => {
        if (!isOld || look(path).text === context.mine) unlinkSync(path);
      });
    },
  };
}

/** Is the lock's holder gone, as far as can be known? */
function isAbandoned({ me, watched }: Context, path: string, seen: Look): boolean {
  const holder = parseHolder(seen.text);
  if (holder !== undefined && me.host !== "" && holder.host === me.host) {
    // A container that restarts may give this process the number of the one that was killed.
    if (holder.pid === me.pid ? holder.instance !== me.instance : !isRunning(holder.pid)) return true;
  }
  const before = watched.get(path);
  if (before === undefined || !isSame(before, seen)) {
    if (watched.size > MAX_WATCHED) watched.clear();
    watched.set(path, { ...seen, since: performance.now(), looks: 1 });
    return false;
  }
  before.looks += 1;
  return before.looks > SILENT_LOOKS && performance.now() - before.since > SILENT_MS;
}

/**
 * Removes the lock if it still is as it was `seen`. Only who holds the marker may do so: of two that saw the same
 * abandoned lock, the second must not remove the one that the first has taken since.
 */
function breakLock(path: string, seen: Look): void {
  const marker = `${path}.break`;
  if (!create(marker, "")) {
    // Silent for so long, its maker died within this function.
    if (Date.now() - look(marker).time > SILENT_MS) ignoring(["ENOENT"], () => unlinkSync(marker));
    return;
  }
  try {
    if (isSame(look(path), seen)) ignoring(["ENOENT"], () => unlinkSync(path));
  } finally {
    ignoring(["ENOENT"], () => unlinkSync(marker));
  }
}

/** Makes the file with `text`; false when it is there already, and when its folder had to be made first. */
function create(path: string, text: string): boolean {
  let file: number;
  try {
    file = openSync(path, "wx", 0o600);
  } catch (error) {
    if (codeOf(error) === "ENOENT") mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    else if (codeOf(error) !== "EEXIST") throw error;
    return false;
  }
  try {
    writeSync(file, text);
    return true;
  } catch (error) {
    unlinkSync(path);
    throw error;
  } finally {
    closeSync(file);
  }
}

function touch(path: string): void {
  const now = new Date();
  utimesSync(path, now, now);
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

function parseHolder(text: string): Holder | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== "object" || value === null) return undefined;
    if (!("host" in value && "pid" in value && "instance" in value)) return undefined;
    const { host: name, pid, instance: id } = value;
    if (typeof name !== "string" || typeof pid !== "number" || typeof id !== "string") return undefined;
    return { host: name, pid, instance: id };
  } catch {
    return undefined; // Not written yet, or its writer was killed: only its silence tells.
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return codeOf(error) !== "ESRCH"; // Another user's process, or no permission to ask.
  }
}

function host(): string {
  try {
    return hostname();
  } catch {
    return ""; // Deno without --allow-sys.
  }
}

/** The same for all copies of this module in the process: two of them must not break each other's locks. */
function instance(): string {
  const known: unknown = Reflect.get(globalThis, INSTANCE);
  if (typeof known === "string") return known;
  const made = crypto.randomUUID();
  Reflect.set(globalThis, INSTANCE, made);
  return made;
}

function lockPath(folder: string, key: string): string {
  const name = escapeName(key);
  if (name.length <= MAX_NAME) return join(folder, `${name}.lock`);
  const hash = createHash("sha256").update(name).digest("hex");
  return join(folder, `${name.slice(0, MAX_NAME - hash.length)}.${hash}.lock`);
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
