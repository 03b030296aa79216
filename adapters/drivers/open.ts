import { homedir, platform } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { createLocalLocks } from "../../src/store/locks.ts";
import { createDenoKvDriver, createDenoKvLocks, DENO_KV_MAX_VALUE_BYTES, type DenoKv } from "./deno-kv.ts";
import { createFsDriver } from "./fs-atomic.ts";
import { createFileLocks } from "./fs-locks.ts";
import { type OpenedStorage, opened } from "./opened.ts";
import { describeRedis, openRedis } from "./redis.ts";
import { createSqliteDriver } from "./sqlite.ts";

type Env = Readonly<Record<string, string | undefined>>;

const FOLDER = "edge-python-repl";
const KINDS = "memory, fs:PATH, sqlite:PATH, redis://HOST:PORT, rediss://HOST:PORT or deno-kv:PATH";

/**
 * Opens the store that a setting names; without one, files in the user's data folder.
 * @throws An Error in one sentence, without any password, when the setting or the store is not usable.
 */
export async function openStorage(setting: string | undefined, env: Env): Promise<OpenedStorage> {
  const text = setting === undefined || setting === "" ? `fs:${dataFolder(env)}` : setting;
  if (text === "memory") return openMemory();
  const [, kind, rest = ""] = /^([a-z-]+):(.*)$/s.exec(text) ?? [];
  if (kind === "fs") return openFiles(pathOf(kind, rest, env));
  if (kind === "sqlite") return openSqlite(pathOf(kind, rest, env));
  if (kind === "redis" || kind === "rediss") return openRedisAt(text);
  if (kind === "deno-kv") return openDenoKv(rest === "" ? undefined : pathOf(kind, rest, env));
  const shown = kind === undefined ? "This store" : `The store ${JSON.stringify(kind)}`;
  throw new Error(`${shown} is not known; use ${KINDS}`);
}

/** The folder of the user's data by the rules of the system: XDG on Linux and others, Application Support on macOS. */
export function dataFolder(env: Env, system: string = platform()): string {
  const home = env.HOME || homedir();
  const given = env.XDG_DATA_HOME;
  if (given !== undefined && isAbsolute(given)) return join(given, FOLDER); // The rules say: else it is to be ignored.
  if (system === "darwin") return join(home, "Library", "Application Support", FOLDER);
  if (system === "win32") return join(env.LOCALAPPDATA || join(home, "AppData", "Local"), FOLDER);
  return join(home, ".local", "share", FOLDER);
}

function openMemory(): OpenedStorage {
  return opened({ locks: createLocalLocks(), exclusive: true, description: "memory, until the server ends" });
}

function openFiles(folder: string): OpenedStorage {
  try {
    const driver = createFsDriver(folder);
    return opened({ driver, locks: createFileLocks(join(folder, "locks")), exclusive: false, description: folder });
  } catch (error) {
    throw unusable(`the folder ${folder}`, error);
  }
}

async function openSqlite(path: string): Promise<OpenedStorage> {
  const driver = await createSqliteDriver(path);
  return opened({ driver, locks: createFileLocks(`${path}-locks`), exclusive: false, description: `SQLite ${path}` });
}

async function openRedisAt(url: string): Promise<OpenedStorage> {
  if (!URL.canParse(url) || new URL(url).hostname === "") {
    throw new Error(
      "The Redis address is not a URL; use redis://HOST:PORT or rediss://USER:PASSWORD@HOST:PORT/DATABASE",
    );
  }
  const { driver, locks } = await openRedis(url);
  return opened({ driver, locks, exclusive: false, description: `Redis ${describeRedis(url)}` });
}

async function openDenoKv(path: string | undefined): Promise<OpenedStorage> {
  const { Deno: deno } = globalThis as { Deno?: { openKv?: (path?: string) => Promise<DenoKv> } };
  if (deno === undefined) throw new Error("deno-kv needs Deno; on this runtime use fs:PATH or sqlite:PATH");
  if (deno.openKv === undefined) throw new Error("deno-kv needs Deno to be started with --unstable-kv");
  const kv = await deno.openKv(path).catch((error: unknown) => {
    throw unusable(`the Deno KV database ${path ?? ""}`.trim(), error);
  });
  return opened({
    driver: createDenoKvDriver(kv),
    locks: createDenoKvLocks(kv),
    exclusive: false,
    maxValueBytes: DENO_KV_MAX_VALUE_BYTES,
    description: `Deno KV${path === undefined ? "" : ` ${path}`}`,
  });
}

function pathOf(kind: string, path: string, env: Env): string {
  if (path === "") throw new Error(`The store ${kind}: needs a path, such as ${kind}:~/history`);
  if (path.includes("\0")) throw new Error(`The path of the store ${kind}: holds a NUL character`);
  return resolve(path.replace(/^~(?=[/\\]|$)/, () => env.HOME || homedir()));
}

function unusable(what: string, error: unknown): Error {
  const reason = error instanceof Error ? error.message : String(error);
  return new Error(`Cannot keep history in ${what}: ${reason}`, { cause: error });
}
