/** Variables never go in silence: not when another process, a failing call or a kernel that was gone already took them. */
import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createStorage } from "unstorage";
import memory from "unstorage/drivers/memory";
import type { Kernel, KernelOptions } from "../../src/core/backend.ts";
import { deferred } from "../../src/core/deferred.ts";
import { AppError } from "../../src/core/errors.ts";
import type { ServiceContext } from "../../src/sessions/context.ts";
import type { RunResult, RunSpec } from "../../src/sessions/run.ts";
import { createSessionService, type SessionService } from "../../src/sessions/service.ts";
import { createHistoryStore, type HistoryStore } from "../../src/store/history-store.ts";
import { createLocalLocks } from "../../src/store/locks.ts";
import { createFakeBackend, type FakeBackend } from "../helpers/fake-backend.ts";

const LIMITS = {
  timeout: 0,
  maxTimeout: 3600,
  idleSeconds: 0,
  maxSessions: 10,
  maxKernels: 10,
  maxKernelsPerOwner: 10,
  maxQueue: 10,
  maxCodeBytes: 1000,
  maxBlocks: 50,
  maxHistoryBytes: 1e6,
  blockChars: 1000,
};

const me = { owner: "me" };
const signal = new AbortController().signal;
/** Two processes over one store, each with kernels of its own. */
let store: HistoryStore;
let here: SessionService;
let there: SessionService;
let backend: FakeBackend;
let other: FakeBackend;

const locks = createLocalLocks();
let ticks = 0;

function serve(changes: Partial<ServiceContext>): SessionService {
  return createSessionService({
    store,
    locks,
    backend,
    limits: LIMITS,
    recovery: "fresh",
    allowUrls: false,
    // Real clocks may stand still between two calls; on Workers they do until something is waited for.
    now: () => {
      ticks += 1;
      return Date.now() + ticks;
    },
    log: () => undefined,
    ...changes,
  });
}

beforeEach(async () => {
  store = createHistoryStore({ storage: createStorage({ driver: memory() }), locks: createLocalLocks() });
  backend = createFakeBackend();
  other = createFakeBackend();
  here = serve({ backend });
  there = serve({ backend: other });
  await here.create(me, { id: "s" });
});

const run = (service: SessionService, code: string): Promise<RunResult> =>
  service.run(me, "s", { kind: "code", code }, { signal });
const code = (error: unknown): string => (error as { code: string }).code;
const refused = async (work: Promise<unknown>): Promise<string> => work.then(() => "not refused", code);
const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("a reset in one process reaches the kernel of another, which says so", async () => {
  await run(here, "set a");
  await there.reset(me, "s", true);
  const { block, index } = await run(here, "get a");
  assert.deepEqual([block.status, index], ["error", 0]);
  assert.match(block.note ?? "", /lost \(the session was reset in another server process\)/);
  await run(here, "set a");
  assert.equal((await run(here, "get a")).block.status, "ok");
});

test("each process keeps its own kernel while both run blocks of a session", async () => {
  await run(here, "set a");
  assert.match((await run(there, "set b")).block.note ?? "", /another one has them/);
  assert.deepEqual((await run(here, "get a")).block.status, "ok");
  assert.deepEqual((await run(there, "get b")).block.status, "ok");
  const inMemory = async (service: SessionService) =>
    (await service.history(me, "s", {})).entries.map((entry) => entry.inMemory);
  assert.deepEqual(await inMemory(here), [true, false, true, false]);
  assert.deepEqual(await inMemory(there), [false, true, false, true]);
});

test("a session deleted in another process is not found, and its kernel ends", async () => {
  await run(here, "set a");
  await there.remove(me, "s");
  assert.equal(await refused(run(here, "get a")), "SESSION_NOT_FOUND");
  await tick();
  assert.equal(backend.open.size, 0);
});

for (const [who, again] of [
  ["this process", () => here],
  ["the other process", () => there],
] as const) {
  test(`a session made anew by ${who} after a deletion knows nothing of the one before`, async () => {
    await run(here, "set a");
    await there.remove(me, "s");
    await tick();
    await again().create(me, { id: "s" });
    await tick();
    if (again() === here) assert.equal(backend.started.length, 2, "the new session has a kernel of its own at once");
    const { block, index } = await run(here, "get a");
    assert.deepEqual([block.status, index], ["error", 0]);
    assert.equal((await here.history(me, "s", {})).total, 1);
    await tick();
    assert.equal(backend.open.size, 1, "only the new session's kernel");
  });
}

test("a call that comes while its session is being deleted starts no kernel", async () => {
  const removed = deferred<void>();
  const slow = {
    ...store,
    deleteSession: (owner: string, id: string) => removed.promise.then(() => store.deleteSession(owner, id)),
  };
  await here.remove(me, "s");
  here = serve({ backend, store: slow });
  await here.create(me, { id: "s" });
  await run(here, "set a");
  const removing = here.remove(me, "s");
  await tick();
  assert.equal(await refused(run(here, "get a")), "SESSION_NOT_FOUND");
  assert.equal(await refused(here.reset(me, "s", false)), "SESSION_NOT_FOUND");
  assert.equal(await refused(here.files(me, "s")), "SESSION_NOT_FOUND");
  removed.resolve();
  await removing;
  assert.equal(backend.open.size, 0);
  await here.create(me, { id: "s" });
  assert.equal((await run(here, "set a")).block.status, "ok");
});

test("a rerun goes on after a file that is gone, and keeps what the other blocks set", async () => {
  let gone = false;
  const word: RunSpec = { kind: "file", code: "exec('x.py')", path: "set x" };
  await run(here, "set a");
  const startKernel = backend.startKernel;
  backend.startKernel = async (options) => {
    const kernel = await startKernel(options);
    return {
      ...kernel,
      execute: (cell, call) => kernel.execute(gone && cell.path ? { ...cell, path: "refuse x.py" } : cell, call),
    };
  };
  await here.reset(me, "s", false);
  await here.run(me, "s", word, { signal });
  await run(here, "set b");
  gone = true;
  const { entries, notRun } = await here.rerun(me, "s", { signal });
  assert.deepEqual([notRun, ...entries.map(({ block }) => block.status)], [0, "ok", "error", "ok"]);
  assert.match(entries[1]?.block.error?.traceback ?? "", /^FILE_NOT_FOUND: The file x\.py/);
  assert.equal((await run(here, "get b")).block.status, "ok");
});

test("a rerun that fails leaves word that the variables are gone", async () => {
  await run(here, "set a");
  const writeBlock = () => Promise.reject(new AppError("STORAGE_UNAVAILABLE", "The store is down"));
  const broken = serve({ backend, store: { ...store, writeBlock } });
  assert.equal(await refused(broken.rerun(me, "s", { signal })), "STORAGE_UNAVAILABLE");
  assert.match((await run(broken, "get b")).block.note ?? "", /lost \(rerun_code failed\)/);
});

test("a block that could not be stored is stored by the next run, with what came of it", async () => {
  let down = true;
  const writeBlock: HistoryStore["writeBlock"] = (owner, id, block) =>
    down
      ? Promise.reject(new AppError("STORAGE_UNAVAILABLE", "The store is down"))
      : store.writeBlock(owner, id, block);
  here = serve({ backend, store: { ...store, writeBlock } });
  assert.equal((await run(here, "print a")).unsaved, true);
  assert.equal((await run(here, "print b")).unsaved, true, "the store is still down");
  down = false;
  assert.equal((await run(here, "print c")).block.note, undefined);
  const { entries } = await here.history(me, "s", {});
  assert.deepEqual(
    entries.map(({ block }) => [block.code, block.status]),
    [
      ["print b", "ok"],
      ["print c", "ok"],
    ],
  );
});

test("of a block that is too large for what the store has left, the code stays", async () => {
  const writeBlock: HistoryStore["writeBlock"] = (owner, id, block) =>
    block.outputs.length > 0
      ? Promise.reject(new AppError("STORAGE_UNAVAILABLE", "The disk is full"))
      : store.writeBlock(owner, id, block);
  here = serve({ backend, store: { ...store, writeBlock } });
  assert.equal((await run(here, "print a")).unsaved, true);
  await run(here, "set b");
  const [first] = (await here.history(me, "s", {})).entries;
  assert.deepEqual([first?.block.code, first?.block.status], ["print a", "ok"]);
  assert.match(first?.block.note ?? "", /output could not be stored/);
});

test("a run that found its kernel gone runs in a fresh one and says what was lost", async () => {
  const startKernel = backend.startKernel;
  const vanishing = async (options: KernelOptions): Promise<Kernel> => {
    const kernel = await startKernel(options);
    const vanished = { status: "died", detail: "ended while nobody looked", started: false } as const;
    return {
      ...kernel,
      execute: (cell, call) =>
        options.epoch === 1 && cell.code === "print b" ? Promise.resolve(vanished) : kernel.execute(cell, call),
    };
  };
  for (const attach of [false, true]) {
    backend = createFakeBackend({ attach });
    const own = serve({ backend: { ...backend, startKernel: vanishing } });
    await own.create(me, { id: `v${attach}` });
    const go = (text: string) => own.run(me, `v${attach}`, { kind: "code", code: text }, { signal });
    await go("set a");
    const { block, index } = await go("print b");
    assert.deepEqual([block.status, block.outputs.length, index], ["ok", 1, 1]);
    assert.match(block.note ?? "", /lost \(the interpreter was ended while nobody looked\).*rerun_code/);
    assert.equal((await own.history(me, `v${attach}`, {})).total, 2);
    assert.equal((await go("set c")).block.note, undefined, "told once");
  }
});
