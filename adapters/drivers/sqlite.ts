import { closeSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import type { Driver } from "unstorage";

/** The part of `node:sqlite` that is used; the types of Node 20 do not know the module. */
type Statement = {
  get(...parameters: string[]): Record<string, unknown> | undefined;
  all(...parameters: string[]): Record<string, unknown>[];
  run(...parameters: string[]): unknown;
};
type Database = { exec(sql: string): void; prepare(sql: string): Statement; close(): void };
type SqliteModule = { DatabaseSync: new (path: string) => Database };

/** Counts the layouts of the table; a file with a higher one is left alone. */
const LAYOUT = 1;
/** How long another process may hold the database, in milliseconds; its writes take less than one. */
const BUSY_MS = 5_000;

/**
 * Values in one table of a SQLite database in WAL mode. A committed value outlives any crash of this program; a loss of
 * power may take the last moments, never more. Processes that replace the same key need a lock.
 * @throws An Error in one sentence when the runtime has no SQLite or the file is not such a database.
 */
export async function createSqliteDriver(path: string): Promise<Driver> {
  const { DatabaseSync } = await loadSqlite();
  const database = openDatabase(DatabaseSync, path);
  const get = database.prepare("SELECT value FROM entries WHERE key = ?");
  const has = database.prepare("SELECT 1 AS found FROM entries WHERE key = ?");
  const set = database.prepare(
    "INSERT INTO entries VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  const remove = database.prepare("DELETE FROM entries WHERE key = ?");
  const keys = database.prepare("SELECT key FROM entries WHERE key >= ? AND key < ?");
  const clear = database.prepare("DELETE FROM entries WHERE key >= ? AND key < ?");
  return {
    name: "sqlite",
    options: { path },
    hasItem: (key) => has.get(key) !== undefined,
    getItem: (key) => (get.get(key)?.value as string | undefined) ?? null,
    setItem(key, value) {
      set.run(key, value);
    },
    removeItem(key) {
      remove.run(key);
    },
    getKeys: (base = "") => keys.all(base, afterAll(base)).map((row) => String(row.key)),
    clear(base = "") {
      clear.run(base, afterAll(base));
    },
    dispose() {
      database.close();
    },
  };
}

async function loadSqlite(): Promise<SqliteModule> {
  const name = "node:sqlite"; // A variable, so that no bundler looks for it.
  try {
    return (await import(name)) as SqliteModule;
  } catch (error) {
    throw new Error("This runtime has no SQLite; use Node 22.13 or newer, Deno or Bun, or store in fs:PATH", {
      cause: error,
    });
  }
}

function openDatabase(DatabaseSync: SqliteModule["DatabaseSync"], path: string): Database {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600)); // SQLite would make a file that others can read.
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${BUSY_MS}`);
    const layout = Number(database.prepare("PRAGMA user_version").get()?.user_version);
    if (layout > LAYOUT) throw new Error(`its layout is ${layout}, and this version knows up to ${LAYOUT}`);
    if (layout < LAYOUT) makeTable(database);
    database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL");
    return database;
  } catch (error) {
    database.close();
    throw new Error(`Cannot use the database ${path}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}

function makeTable(database: Database): void {
  if (
    database
      .prepare("SELECT name FROM sqlite_master")
      .all()
      .some((row) => row.name !== "entries" && !isOwn(row.name))
  ) {
    throw new Error("it belongs to another program");
  }
  database.exec(
    `BEGIN IMMEDIATE;
     CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL);
     PRAGMA user_version = ${LAYOUT};
     COMMIT`,
  );
}

/** SQLite's own index of the primary key. */
function isOwn(name: unknown): boolean {
  return String(name).startsWith("sqlite_");
}

/** Keys that begin with `base` sort before this; without a base, before all that is possible. */
function afterAll(base: string): string {
  return `${base}\u{10ffff}`;
}
