import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { createFileLocks, createSyncLock } from "../../adapters/drivers/fs-locks.ts";

const folder = mkdtempSync(join(tmpdir(), "fs-locks-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** The number of a process that is no more. */
const deadPid = spawnSync(process.execPath, ["-e", ""]).pid;
const holder = (change: object): string => JSON.stringify({ host: hostname(), pid: deadPid, instance: "x", ...change });
const locksIn = (name: string): string[] => readdirSync(join(folder, name)).filter((file) => !file.endsWith(".holder"));

test("a lock is a file while it is held, whatever its key is", async () => {
  const locks = createFileLocks(join(folder, "held"));
  for (const key of ["o:local:s:a", "run/owner/Ä b", "\0", "x".repeat(5_000), `${"x".repeat(5_000)}y`]) {
    const result = await locks.run(key, async () => {
      assert.equal(locksIn("held").length, 1);
      return key;
    });
    assert.equal(result, key);
  }
  assert.deepEqual(locksIn("held"), []);
});

test("two servers in one folder take turns", async () => {
  const [one, other] = [createFileLocks(join(folder, "turns")), createFileLocks(join(folder, "turns"))];
  let inside = 0;
  const task = async (): Promise<void> => {
    inside += 1;
    assert.equal(inside, 1);
    await new Promise((resolve) => setTimeout(resolve, 1));
    inside -= 1;
  };
  await Promise.all(Array.from({ length: 40 }, (_, index) => (index % 2 === 0 ? one : other).run("key", task)));
});

test("the lock of a process that is gone is broken at once, by one of those who wait", async () => {
  mkdirSync(join(folder, "gone"));
  writeFileSync(join(folder, "gone", "key.lock"), holder({}));
  writeFileSync(join(folder, "gone", "key.lock.break"), holder({}));
  writeFileSync(join(folder, "gone", "own.lock"), holder({ pid: process.pid }));
  const servers = Array.from({ length: 4 }, () => createFileLocks(join(folder, "gone")));
  let inside = 0;
  const task = async (): Promise<void> => {
    inside += 1;
    assert.equal(inside, 1);
    await new Promise((resolve) => setTimeout(resolve, 2));
    inside -= 1;
  };
  const began = Date.now();
  await Promise.all(servers.map((locks) => locks.run("key", task)));
  await servers[0]?.run("own", task);
  assert.ok(Date.now() - began < 5_000);
  assert.deepEqual(locksIn("gone"), []);
});

test("the lock of a process that may live is respected until the caller gives up", async () => {
  mkdirSync(join(folder, "alive"));
  const locks = createFileLocks(join(folder, "alive"));
  const owners = [holder({ pid: process.ppid }), holder({ host: "elsewhere" }), "", "{", holder({ pid: "1" })];
  for (const text of owners) {
    writeFileSync(join(folder, "alive", "key.lock"), text);
    await assert.rejects(
      locks.run("key", async () => {}, AbortSignal.timeout(100)),
      { name: "TimeoutError" },
    );
    assert.ok(existsSync(join(folder, "alive", "key.lock")));
  }
});

test("a lock whose holder cannot be asked is broken when it gives no sign of life, and only then", async () => {
  const silentMs = 400;
  mkdirSync(join(folder, "silent"));
  const [one, other] = [
    createFileLocks(join(folder, "silent"), silentMs),
    createFileLocks(join(folder, "silent"), silentMs),
  ];
  for (const text of [holder({ host: "elsewhere" }), ""]) {
    writeFileSync(join(folder, "silent", "key.lock"), text);
    assert.equal(await one.run("key", async () => 7), 7);
  }
  const order: string[] = [];
  const held = one.run("key", async () => {
    await new Promise((resolve) => setTimeout(resolve, 3 * silentMs)); // Only signs of life keep the lock so long.
    order.push("one");
  });
  await Promise.all([held, other.run("key", async () => void order.push("other"))]);
  assert.deepEqual(order, ["one", "other"]);
});

test("the files of servers that were killed are removed by the next one", () => {
  mkdirSync(join(folder, "left"));
  const path = (name: string): string => join(folder, "left", name);
  writeFileSync(path("dead.holder"), holder({}));
  writeFileSync(path("alive.holder"), holder({ pid: process.ppid }));
  writeFileSync(path("foreign.holder"), holder({ host: "elsewhere" }));
  utimesSync(path("foreign.holder"), 1, 1);
  createFileLocks(join(folder, "left"));
  assert.deepEqual(readdirSync(join(folder, "left")), ["alive.holder"]);
});

test("a folder that is removed under the server is made again", async () => {
  const locks = createFileLocks(join(folder, "removed"));
  await locks.run("key", async () => {});
  rmSync(join(folder, "removed"), { recursive: true });
  assert.equal(await locks.run("key", async () => 7), 7);
});

test("a lock for work at once is held while it runs, and free after it failed", () => {
  const [one, other] = [createSyncLock(join(folder, "sync")), createSyncLock(join(folder, "sync"), 20_000, 50)];
  const result = one("a/0.log", () => {
    assert.equal(locksIn("sync").length, 1);
    assert.throws(() => other("a/0.log", () => {}), /^Error: Another process has held the lock "a\/0.log" for 50 ms/);
    return other("a/1.log", () => 7);
  });
  assert.equal(result, 7);
  assert.throws(() => one("key", () => assert.fail("failed")), /failed/);
  assert.deepEqual(locksIn("sync"), []);
});

test("a lock for work at once is broken like the others: of the gone at once, of the silent in time", () => {
  mkdirSync(join(folder, "sync gone"));
  const lock = createSyncLock(join(folder, "sync gone"), 400, 150);
  const path = join(folder, "sync gone", "key.lock");
  writeFileSync(path, holder({}));
  assert.equal(
    lock("key", () => 7),
    7,
  );
  writeFileSync(path, holder({ host: "elsewhere" }));
  const began = Date.now();
  for (;;) {
    try {
      lock("key", () => {});
      break;
    } catch {
      assert.ok(Date.now() - began < 10_000); // Each caller waits for a while only, the lock is watched on.
    }
  }
  assert.ok(Date.now() - began > 350);
  assert.deepEqual(locksIn("sync gone"), []);
});
