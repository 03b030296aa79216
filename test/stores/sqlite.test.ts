import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { openStorage } from "../../adapters/drivers/open.ts";
import { storeSuite } from "../contract/store-suite.ts";

const folder = mkdtempSync(join(tmpdir(), "sqlite-"));
after(() => rmSync(folder, { recursive: true, force: true }));
const name = "node:sqlite"; // A variable: the types of Node 20 do not know the module.
const hasSqlite = await import(name).then(
  () => true,
  () => false,
);
const supports = { sharing: true };

if (hasSqlite) {
  storeSuite(
    "sqlite",
    () => ({ supports, open: () => openStorage(`sqlite:${join(folder, "store.db")}`, {}) }),
    supports,
  );
}

test("sqlite: a runtime without it is told in one sentence", { skip: hasSqlite && "this runtime has it" }, async () => {
  await assert.rejects(
    openStorage(`sqlite:${join(folder, "x.db")}`, {}),
    /^Error: This runtime has no SQLite; use Node/,
  );
});

test("sqlite: the database is its owner's alone", { skip: !hasSqlite && "no SQLite" }, async () => {
  const path = join(folder, "new folder", "store.db");
  const opened = await openStorage(`sqlite:${path}`, {});
  await opened.storage.setItem("key", '{"v":1}');
  for (const file of [path, `${path}-wal`, `${path}-shm`]) assert.equal(statSync(file).mode & 0o777, 0o600, file);
  assert.equal(opened.description, `SQLite ${path}`);
  await opened.close();
});

test("sqlite: what is not our database is left alone", { skip: !hasSqlite && "no SQLite" }, async () => {
  const text = join(folder, "notes.txt");
  writeFileSync(text, "These are notes, and no database at all. ".repeat(50));
  await assert.rejects(openStorage(`sqlite:${text}`, {}), /^Error: Cannot use the database .*: file is not a database/);
  const { DatabaseSync } = await import(name);
  const foreign = new DatabaseSync(join(folder, "foreign.db"));
  foreign.exec("CREATE TABLE songs (title TEXT)");
  foreign.close();
  await assert.rejects(openStorage(`sqlite:${join(folder, "foreign.db")}`, {}), /belongs to another program/);
  const newer = new DatabaseSync(join(folder, "newer.db"));
  newer.exec("PRAGMA user_version = 2");
  newer.close();
  await assert.rejects(openStorage(`sqlite:${join(folder, "newer.db")}`, {}), /its layout is 2/);
});
