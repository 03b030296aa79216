import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Redis } from "ioredis";
import { openStorage } from "../../adapters/drivers/open.ts";
import { createRedisLocks } from "../../adapters/drivers/redis.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { append, codeOf, newOwner, newRecord } from "../contract/store-subject.ts";
import { storeSuite } from "../contract/store-suite.ts";
import { noRedis, type RedisServer, startRedis } from "./redis-server.ts";

const PASSWORD = "not-to-be-told";
let server: RedisServer;

before(async () => {
  if (!noRedis) server = await startRedis();
});
after(async () => {
  if (!noRedis) await server.stop();
});

const supports = { sharing: true };
if (noRedis) test("redis", { skip: noRedis });
else storeSuite("redis", () => ({ supports, open: () => openStorage(server.url, {}) }), supports);

test("redis: the lock of a process that is gone runs out, one that is held does not", { skip: noRedis }, async () => {
  const [one, other] = [new Redis(server.url), new Redis(server.url)];
  const order: string[] = [];
  const leaseMs = 300;
  const held = createRedisLocks(one, leaseMs).run("key", async () => {
    await new Promise((resolve) => setTimeout(resolve, 3 * leaseMs)); // Only a renewal keeps the lock so long.
    order.push("first");
  });
  await until(async () => (await other.exists("edge-python-repl:lock:key")) === 1);
  await Promise.all([held, createRedisLocks(other, leaseMs).run("key", async () => void order.push("second"))]);
  assert.deepEqual(order, ["first", "second"]);
  assert.equal(await other.exists("edge-python-repl:lock:key"), 0);

  await other.set("edge-python-repl:lock:left", "a token of nobody", "PX", 300);
  await createRedisLocks(one).run("left", async () => void order.push("third"));
  assert.equal(order.at(-1), "third");
  one.disconnect();
  other.disconnect();
});

test("redis: only the holder of a lock can release it", { skip: noRedis }, async () => {
  const client = new Redis(server.url);
  await createRedisLocks(client).run("stolen", async () => {
    await client.set("edge-python-repl:lock:stolen", "another's token", "PX", 60_000);
  });
  assert.equal(await client.get("edge-python-repl:lock:stolen"), "another's token");
  client.disconnect();
});

test("redis: calls fail while the server is down and work again once it is back", { skip: noRedis }, async () => {
  const passing = await startRedis();
  const { close, ...options } = await openStorage(passing.url, {});
  const store = createHistoryStore(options);
  const owner = newOwner();
  await store.createSession(owner, newRecord("demo"), 10);
  await passing.stop();
  const began = Date.now();
  assert.equal(await codeOf(store.readSession(owner, "demo")), "STORAGE_UNAVAILABLE");
  assert.equal(await codeOf(append(store, owner, "demo")), "STORAGE_UNAVAILABLE");
  assert.ok(Date.now() - began < 10_000);
  await passing.start();
  await until(() =>
    store.readSession(owner, "demo").then(
      () => true,
      () => false,
    ),
  );
  await store.createSession(owner, newRecord("demo"), 10);
  assert.equal(await append(store, owner, "demo"), 0);
  await close();
  await passing.stop();
});

test("redis: neither a description nor an error tells the password", { skip: noRedis }, async () => {
  const guarded = await startRedis("--requirepass", PASSWORD);
  const opened = await openStorage(`redis://default:${PASSWORD}@127.0.0.1:${guarded.port}/3`, {});
  assert.equal(opened.description, `Redis redis://127.0.0.1:${guarded.port}/3`);
  await opened.storage.setItem("key", '{"v":1}');
  await opened.close();
  await assertRefused(`redis://:wrong-${PASSWORD}@127.0.0.1:${guarded.port}`);
  await guarded.stop();
  await assertRefused(`redis://:${PASSWORD}@127.0.0.1:${guarded.port}`);
  await assertRefused(`redis://:${PASSWORD}@not a host:1`);
  await assertRefused(`rediss://:${PASSWORD}@[`);
});

async function assertRefused(setting: string): Promise<void> {
  await assert.rejects(openStorage(setting, {}), (error: unknown) => {
    assert.ok(error instanceof Error);
    assert.match(error.message, /Redis/);
    assert.ok(!error.message.includes(PASSWORD), error.message);
    assert.ok(!error.message.includes("\n"));
    return true;
  });
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("The condition did not come true within 10 s");
}
