import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { createStorage } from "unstorage";
import memory from "unstorage/drivers/memory";
import { deferred } from "../../src/core/deferred.ts";
import { AppError } from "../../src/core/errors.ts";
import type { CellOptions } from "../../src/sessions/cells.ts";
import type { Limits, ServiceContext } from "../../src/sessions/context.ts";
import { createSessionService, type SessionService } from "../../src/sessions/service.ts";
import { createHistoryStore, type HistoryStore } from "../../src/store/history-store.ts";
import { createLocalLocks } from "../../src/store/locks.ts";
import { createFakeBackend, type FakeBackend } from "../helpers/fake-backend.ts";

const LIMITS: Limits = {
  timeout: 0,
  maxTimeout: 3600,
  idleSeconds: 0,
  maxSessions: 3,
  maxKernels: 10,
  maxKernelsPerOwner: 10,
  maxQueue: 2,
  maxCodeBytes: 1000,
  maxBlocks: 5,
  maxHistoryBytes: 1e6,
  blockChars: 1000,
};

const me = { owner: "me" };
const never = new AbortController().signal;
let backend: FakeBackend;
let store: HistoryStore;
let service: SessionService;

function serve(changes: Partial<ServiceContext> = {}): SessionService {
  return createSessionService({
    store,
    backend,
    limits: LIMITS,
    recovery: "fresh",
    allowUrls: false,
    now: Date.now,
    log: () => undefined,
    ...changes,
  });
}

beforeEach(async () => {
  backend = createFakeBackend();
  store = createHistoryStore({
    storage: createStorage({ driver: memory() }),
    locks: createLocalLocks(),
    exclusive: true,
  });
  service = serve();
  await service.create(me, { id: "s" });
});

const run = (code: string, options: Partial<CellOptions> = {}) =>
  service.run(me, "s", { kind: "code", code }, { signal: never, ...options });

/** Starts code that goes on until it is stopped; resolves when it has begun. */
async function inBackground(code: string): Promise<{ readonly done: ReturnType<typeof run> }> {
  const begun = deferred<void>();
  const done = run(code, { onOutput: () => begun.resolve() });
  await begun.promise;
  return { done };
}

const code = (error: unknown): string => (error as { code: string }).code;
const refused = async (work: Promise<unknown>): Promise<string> => work.then(() => "not refused", code);

test("a run is stored before it starts and completed after", async () => {
  const { done } = await inBackground("wait");
  assert.equal((await store.readSession("me", "s"))?.pending?.status, "running");
  const shown = await service.history(me, "s", {});
  assert.deepEqual(
    shown.entries.map(({ block }) => [block.status, block.outputs.length]),
    [["running", 1]],
  );
  await service.interrupt(me, "s");
  assert.equal((await done).block.status, "cancelled");
});

test("a long code leaves the record, which every list of sessions reads, when its block is stored", async () => {
  service = serve({ limits: { ...LIMITS, maxCodeBytes: 1e6 } });
  for (const [length, stays] of [
    [10, true],
    [100_000, false],
  ] as const) {
    const { block } = await run(`#${"x".repeat(length)}`);
    const record = await store.readSession("me", "s");
    assert.equal(record?.pending?.sequence === block.sequence, stays);
    assert.equal((await store.readBlocks("me", "s", [block.sequence]))[0]?.code.length, length + 1);
  }
  assert.equal((await service.history(me, "s", {})).total, 2);
});

test("a timeout that can be interrupted keeps variables, one that cannot loses them, and each says so", async () => {
  await run("set a");
  const kept = await run("wait", { timeout: 0.01 });
  assert.deepEqual([kept.block.status, kept.block.state], ["timeout", "kept"]);
  assert.match(kept.block.note ?? "", /timeout of 0.01 s; variables are kept/);
  assert.equal((await run("get a")).block.status, "ok");
  const lost = await run("stuck", { timeout: 0.01 });
  assert.deepEqual([lost.block.status, lost.block.state], ["timeout", "lost"]);
  assert.match(lost.block.note ?? "", /variables are lost; .* rerun_code/);
  const next = await run("get a");
  assert.equal(next.block.error?.name, "NameError");
  assert.equal(next.block.note, undefined, "the loss was told once");
});

test("a kernel that died between two runs is told by the next one", async () => {
  await run("set a");
  backend.crash("killed by SIGALRM");
  const { block } = await run("set b");
  assert.match(block.note ?? "", /lost \(the interpreter was killed by SIGALRM\).*rerun_code/);
});

test("a kernel in which nothing ran is replaced without a word", async () => {
  backend.crash("killed by SIGALRM");
  assert.equal((await run("set b")).block.note, undefined);
});

test("a restarted server says that variables are lost; with recovery by replay they are back", async () => {
  await run("set a");
  await run("get missing");
  const { block } = await serve().run(me, "s", { kind: "code", code: "get a" }, { signal: never });
  assert.match(block.note ?? "", /the server was restarted/);
  const replayed = await serve({ recovery: "replay" }).run(me, "s", { kind: "code", code: "get a" }, { signal: never });
  assert.equal(replayed.block.status, "ok");
  assert.match(replayed.block.note ?? "", /restored by running 1 of 3 blocks again; 2 that had failed were skipped/);
});

test("a block in flight when the server ended is there as interrupted", async () => {
  const { done } = await inBackground("wait");
  const after = serve();
  assert.equal((await after.history(me, "s", {})).entries[0]?.block.status, "interrupted");
  await after.run(me, "s", { kind: "code", code: "set a" }, { signal: never });
  assert.deepEqual(
    (await after.history(me, "s", {})).entries.map(({ block }) => block.status),
    ["interrupted", "ok"],
  );
  await service.interrupt(me, "s");
  await done;
});

test("a reset stops what runs, and its fresh kernel stays", async () => {
  await run("set a");
  const { done } = await inBackground("wait");
  await service.reset(me, "s", false);
  const { block } = await done;
  assert.deepEqual([block.status, block.state], ["died", "lost"]);
  assert.match(block.note ?? "", /reset while this block ran/);
  assert.equal((await run("get a")).block.error?.name, "NameError");
  assert.equal(backend.started.length, 2, "the session's first kernel and the fresh one");
});

test("a deletion stops what runs and leaves nothing behind", async () => {
  const { done } = await inBackground("wait");
  await service.remove(me, "s");
  assert.match((await done).block.note ?? "", /deleted while this block ran/);
  assert.equal(await store.readSession("me", "s"), undefined);
  assert.equal(backend.open.size, 0);
  assert.equal(await refused(run("set a")), "SESSION_NOT_FOUND");
});

test("calls queue in order of arrival, up to the limit; a cancelled one gives up its place", async () => {
  const { done } = await inBackground("wait");
  const second = run("set b");
  const giveUp = new AbortController();
  const third = refused(run("set c", { signal: giveUp.signal }));
  giveUp.abort();
  assert.equal(await third, "CANCELLED");
  const fourth = run("get b");
  assert.equal(await refused(run("set e")), "SESSION_BUSY");
  await service.interrupt(me, "s");
  await done;
  assert.deepEqual([(await second).index, (await fourth).index, (await fourth).block.status], [1, 2, "ok"]);
});

test("a refused file leaves no block", async () => {
  const file = { kind: "file", code: "exec('x.py')", path: "refuse x.py" } as const;
  assert.equal(await refused(service.run(me, "s", file, { signal: never })), "FILE_NOT_FOUND");
  assert.equal((await service.history(me, "s", {})).total, 0);
  assert.equal((await run("set a")).index, 0);
});

test("history edits during a run: other blocks go, the running one is busy, the number it ends with is right", async () => {
  await run("set a");
  await run("set b");
  const { done } = await inBackground("wait");
  assert.equal(await refused(service.deleteHistory(me, "s", -1)), "SESSION_BUSY");
  assert.deepEqual(await service.deleteHistory(me, "s", 0, 2), { deleted: 2, remaining: 1 });
  await service.interrupt(me, "s");
  assert.equal((await done).index, 0);
});

test("delete_history refuses what is outside the history", async () => {
  await run("set a");
  for (const [start, end] of [[-2], [1], [0, 2], [0, 0], [5, 6]] as const) {
    assert.equal(await refused(service.deleteHistory(me, "s", start, end)), "INDEX_OUT_OF_RANGE", `${start}:${end}`);
  }
  assert.deepEqual(await service.deleteHistory(me, "s", -1), { deleted: 1, remaining: 0 });
});

test("a rerun restores variables in place and tells what differs; blocks outside its range are not in memory", async () => {
  await run("set a");
  await run("get b");
  await run("set b");
  const { entries, kernelAlive } = await service.rerun(me, "s", { signal: never, start: 0, end: 2 });
  assert.deepEqual(
    entries.map(({ block, same }) => [block.status, same]),
    [
      ["ok", true],
      ["error", true],
    ],
  );
  assert.equal(kernelAlive, true);
  const { entries: shown } = await service.history(me, "s", {});
  assert.deepEqual(
    shown.map(({ inMemory }) => inMemory),
    [true, true, false],
  );
  assert.equal((await run("get b")).block.status, "error");
});

test("a rerun stops at an error when told to, and when it is cancelled", async () => {
  await run("get a");
  await run("wait", { timeout: 0.01 });
  assert.equal((await service.rerun(me, "s", { signal: never, stopOnError: true })).notRun, 1);
  const stop = new AbortController();
  const work = service.rerun(me, "s", { signal: stop.signal, start: 1, onOutput: () => stop.abort() });
  assert.equal((await work).entries[0]?.block.status, "cancelled");
});

test("limits name themselves and change nothing", async () => {
  assert.equal(await refused(run("x".repeat(1001))), "TOO_LARGE");
  for (const timeout of [0, -1, Number.NaN, 1e12])
    assert.equal(await refused(run("set a", { timeout })), "INVALID_ARGUMENT");
  for (let count = 0; count < 5; count += 1) await run("set a");
  assert.equal(await refused(run("set a")), "LIMIT_REACHED");
  await service.create(me, { id: "t" });
  await service.create(me, { id: "u" });
  assert.equal(await refused(service.create(me, { id: "v" })), "SESSION_LIMIT");
  assert.equal(await refused(service.create(me, { id: "t" })), "SESSION_EXISTS");
});

test("a session whose folder is missing is an error at once and is not made", async () => {
  assert.equal(await refused(service.create(me, { id: "t", cwd: "/missing" })), "INVALID_CWD");
  assert.deepEqual(
    (await service.list(me)).map(({ session_id }) => session_id),
    ["s"],
  );
});

test("session ids that could reach elsewhere are refused", async () => {
  for (const id of ["../x", "a:b", "", "a".repeat(65), "-a", ".a", "a b", "a/b", "ä"]) {
    assert.equal(await refused(service.create(me, { id })), "INVALID_SESSION_ID", id);
  }
});

test("when the store fails, the run's output is returned and marked unsaved", async () => {
  const writeBlock = () => Promise.reject(new AppError("STORAGE_UNAVAILABLE", "The store is down"));
  service = serve({ store: { ...store, writeBlock } });
  const { block, unsaved } = await run("print hello");
  assert.deepEqual([block.status, unsaved, block.outputs.length], ["ok", true, 1]);
});

test("close lets runs end within its grace, then interrupts them, then ends all kernels", async () => {
  const { done } = await inBackground("wait");
  await service.close(10);
  assert.equal((await done).block.status, "cancelled");
  assert.equal(backend.open.size, 0);
});

test("a block keeps what it made; a rerun tells it anew and compares output alone", async () => {
  const { block } = await run("make a");
  assert.deepEqual([block.files?.folder, block.files?.changed[0]?.path], ["/home/me", "a"]);
  const [stored] = (await service.history(me, "s", {})).entries;
  assert.deepEqual(stored?.block.files, block.files);
  assert.equal((await run("print x")).block.files, undefined);
  const { entries } = await service.rerun(me, "s", { signal: never });
  const [again] = entries;
  assert.equal(again?.same, true);
  assert.equal(again?.block.files?.changed[0]?.size, (block.files?.changed[0]?.size ?? 0) + 1);
});
