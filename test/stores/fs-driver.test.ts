import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFsDriver } from "../../adapters/drivers/fs-atomic.ts";
import { createFileLocks } from "../../adapters/drivers/fs-locks.ts";
import { MAX_PAIR_BYTES, newPair, readPair, rewritePair } from "../../adapters/drivers/fs-pair.ts";

const folder = mkdtempSync(join(tmpdir(), "fs-driver-"));
after(() => rmSync(folder, { recursive: true, force: true }));
let count = 0;
const newRoot = (): string => {
  count += 1;
  return join(folder, `root ${count}`);
};

const filesBelow = (root: string): string[] =>
  (readdirSync(root, { recursive: true }) as string[]).filter((name) => statSync(join(root, name)).isFile());

test("keys of any characters and length live side by side, are listed, and leave nothing behind", async () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  const long = "x".repeat(1_000);
  const keys = [
    "a",
    "a:b",
    "a:b:c",
    "A",
    "a.json",
    "a.json:b",
    "\0",
    "é",
    "\ud800",
    "%41",
    "con",
    "1234",
    "1234:5",
    "x+",
    "a$",
  ];
  keys.push(long, `${long}y`, `${long}:1234567`, "9".repeat(500));
  for (const key of keys) driver.setItem?.(key, JSON.stringify(key), {});
  for (const key of keys) assert.equal(driver.getItem(key), JSON.stringify(key));
  assert.deepEqual((await driver.getKeys("", {})).sort(), [...keys].sort());
  assert.deepEqual((await driver.getKeys("a:", {})).sort(), ["a:b", "a:b:c"]);
  for (const key of keys) driver.removeItem?.(key, {});
  assert.deepEqual(await driver.getKeys("", {}), []);
  assert.deepEqual(readdirSync(join(root, "data")), [], "no empty folder stays");
});

test("numbered values lie in a log for each thousand, what only looks like a number in a file", () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  const numbers = ["0", "999", "1000", "1999", "99999", "100000", "9007199254740991"];
  const others = ["007", "-1", "1e3", "00", "1.0", "+1", "0x1", "12-0-1", "9007199254740992", "9".repeat(30), "\u0661"];
  for (const last of [...numbers, ...others]) driver.setItem?.(`b:${last}`, last, {});
  for (const last of [...numbers, ...others]) assert.equal(driver.getItem(`b:${last}`), last);
  const files = filesBelow(join(root, "data"));
  const logs = files.filter((name) => name.endsWith(".log")).sort();
  assert.deepEqual(logs, ["b/0.log", "b/1.log", "b/100.log", "b/9007199254740.log", "b/99.log"]);
  assert.equal(files.length, logs.length + others.length);
  driver.setItem?.("7", "without a folder", {});
  assert.equal(driver.getItem("7"), "without a folder");
  const keys = [...numbers, ...others].map((last) => `b:${last}`);
  assert.deepEqual((driver.getKeys("", {}) as string[]).sort(), ["7", ...keys].sort());
  assert.deepEqual((driver.getKeys("b", {}) as string[]).sort(), keys.sort());
});

test("folders and files are their owner's alone", () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  for (const round of [1, 2, 3]) for (const key of ["a:b:c", "a:5"]) driver.setItem?.(key, `${round}`, {});
  createFileLocks(join(root, "locks"));
  for (const name of readdirSync(root, { recursive: true }) as string[]) {
    const stats = statSync(join(root, name));
    assert.equal(stats.mode & 0o777, stats.isDirectory() ? 0o700 : 0o600, name);
  }
  assert.equal(statSync(root).mode & 0o777, 0o700);
});

test("a value may change between small and large as it likes", () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  const large = "x".repeat(MAX_PAIR_BYTES + 1);
  for (const value of ["1", "2", large, "3", "4", "5".repeat(5_000), "6", `${large}7`, `${large}8`, "é", "", "9"]) {
    driver.setItem?.("key", value, {});
    assert.equal(driver.getItem("key"), value);
    assert.equal(filesBelow(join(root, "data")).length, 1);
  }
  assert.deepEqual(readdirSync(join(root, "tmp")), []);
});

test("a pair survives a write that was cut off at any byte", () => {
  const path = join(folder, "pair");
  writeFileSync(path, newPair("first"));
  assert.ok(rewritePair(path, "second"));
  const before = readFileSync(path);
  assert.ok(rewritePair(path, "third, and longer"));
  const whole = readFileSync(path);
  assert.equal(readPair(path), "third, and longer");
  const changed = [...whole.keys()].filter((position) => whole[position] !== before[position]);
  const [first = 0, last = 0] = [changed[0], changed.at(-1)];
  for (let cut = first; cut < last; cut += 1) {
    writeFileSync(path, Buffer.concat([whole.subarray(0, cut), before.subarray(cut)]));
    assert.equal(readPair(path), "second", `cut after ${cut} bytes`);
    assert.ok(rewritePair(path, "fourth"));
    assert.equal(readPair(path), "fourth");
  }
});

test("a damaged file is read as something that makes no sense, not as absent", () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  for (const round of [1, 2]) driver.setItem?.("key", `{"round":${round}}`, {});
  const [name = ""] = filesBelow(join(root, "data"));
  for (const damage of [
    "pair1 2048",
    "pair1 NaN",
    "",
    `${readFileSync(join(root, "data", name), "latin1").slice(0, 70)}…`,
  ]) {
    writeFileSync(join(root, "data", name), damage);
    assert.equal(driver.getItem("key"), damage);
    driver.setItem?.("key", "{}", {});
    assert.equal(driver.getItem("key"), "{}", "and it can be written again");
  }
});

test("what a killed server left half-written is removed after an hour", () => {
  const root = newRoot();
  createFsDriver(root);
  const [old, fresh] = [join(root, "tmp", "old"), join(root, "tmp", "fresh")];
  for (const path of [old, fresh]) writeFileSync(path, "half");
  const twoHoursAgo = Date.now() / 1000 - 7_200;
  utimesSync(old, twoHoursAgo, twoHoursAgo);
  createFsDriver(root);
  assert.deepEqual([existsSync(old), existsSync(fresh)], [false, true]);
});

test("a folder that is removed under the server is made again", () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  driver.setItem?.("a:b", "1", {});
  rmSync(root, { recursive: true });
  assert.equal(driver.getItem("a:b"), null);
  driver.setItem?.("a:b", "2", {});
  assert.equal(driver.getItem("a:b"), "2");
});

test("a write that cannot be done throws and changes nothing", {
  skip: process.getuid?.() === 0 && "root may write everywhere",
}, () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  driver.setItem?.("a:b", "1", {});
  chmodSync(join(root, "tmp"), 0o500);
  assert.throws(() => driver.setItem?.("a:c", "2", {}), /EACCES/);
  assert.equal(driver.getItem("a:b"), "1");
});

test("a value whose place is taken by a folder is told, and its temporary file removed", () => {
  const root = newRoot();
  const driver = createFsDriver(root);
  mkdirSync(join(root, "data", "a.json"), { recursive: true });
  assert.throws(() => driver.setItem?.("a", "x".repeat(MAX_PAIR_BYTES + 1), {}));
  assert.deepEqual(readdirSync(join(root, "tmp")), []);
});
