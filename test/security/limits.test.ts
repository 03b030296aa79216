import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { until } from "../helpers/process.ts";
import { makeApp, type TestApp } from "./app-setup.ts";
import { createFakeBackend } from "./fake-backend.ts";
import type { ToolReply } from "./http-client.ts";

/**
 * Runs `abuse` as alice while bob has a call running, and makes sure that neither that call nor a new one of bob's
 * notices anything. Returns what alice was told.
 */
async function withoutHarm(
  settings: Readonly<Record<string, string>>,
  abuse: (subject: TestApp) => Promise<ToolReply>,
  options: Omit<Parameters<typeof makeApp>[0], "tokens" | "settings"> = {},
): Promise<ToolReply> {
  const subject = await makeApp({ tokens: ["alice", "bob"], settings, ...options });
  const bob = subject.client("bob");
  await bob.tool("create_session", { session_id: "busy" });
  const running = bob.tool("run_code", { session_id: "busy", code: "wait", timeout: 20 });
  await until(async () => (await bob.tool("list_sessions", {})).text.includes('"busy":true'), "bob's call to run");
  const told = await abuse(subject);
  await bob.tool("create_session", { session_id: "quiet" });
  assert.match(await bob.run("quiet", "1 + 1"), /1 \+ 1/);
  assert.ok((await bob.tool("list_sessions", {})).text.includes('"busy":true'), "bob's call was stopped");
  await bob.tool("reset_session", { session_id: "busy" });
  await running;
  await subject.close();
  return told;
}

function refused(reply: ToolReply, code: string, message: RegExp): void {
  assert.equal(reply.isError, true, reply.text);
  assert.equal(reply.content.code, code, reply.text);
  assert.match(String(reply.content.message), message);
}

describe("a limit names itself, and hitting it harms nobody else", () => {
  test("sessions of an owner", async () => {
    const told = await withoutHarm({ REPL_MAX_SESSIONS: "3" }, async ({ client }) => {
      const alice = client("alice");
      for (const id of ["a", "b", "c"])
        assert.equal((await alice.tool("create_session", { session_id: id })).isError, false);
      const reply = await alice.tool("create_session", { session_id: "d" });
      await alice.tool("delete_session", { session_id: "a" });
      assert.equal((await alice.tool("create_session", { session_id: "e" })).isError, false);
      return reply;
    });
    refused(told, "SESSION_LIMIT", /You have 3 sessions and 3 are allowed; delete_session makes room/);
  });

  test("live interpreters of an owner", async () => {
    const told = await withoutHarm({ REPL_MAX_KERNELS_PER_OWNER: "2" }, async ({ client }) => {
      const alice = client("alice");
      for (const id of ["a", "b", "c"]) await alice.tool("create_session", { session_id: id });
      const reply = await alice.tool("run_code", { session_id: "c", code: "1" });
      await alice.tool("delete_session", { session_id: "a" });
      assert.match(await alice.run("c", "1"), /1/);
      return reply;
    });
    refused(told, "LIMIT_REACHED", /You have 2 live interpreters, the most you may have; delete_session ends one/);
  });

  test("live interpreters: who is alone on the server may have as many as sessions, with tokens each has 50", async () => {
    const settings = { REPL_RATE_PER_MINUTE: "0" };
    const [local, shared] = [await makeApp({ settings }), await makeApp({ tokens: ["alice"], settings })];
    const started = async (client: ReturnType<TestApp["client"]>): Promise<number> => {
      for (let n = 0; n < 100; n += 1) {
        await client.tool("create_session", { session_id: `s${n}` });
        const { content } = await client.tool("run_code", { session_id: `s${n}`, code: "1" });
        if (content.code === "LIMIT_REACHED") return n;
      }
      return 100;
    };
    assert.deepEqual([await started(local.client()), await started(shared.client("alice"))], [100, 50]);
    await Promise.all([local.close(), shared.close()]);
  });

  test("live interpreters in all: who has one keeps it", async () => {
    const subject = await makeApp({ tokens: ["alice", "bob"], settings: { REPL_MAX_KERNELS: "2" } });
    const [alice, bob] = [subject.client("alice"), subject.client("bob")];
    await bob.tool("create_session", { session_id: "mine" });
    for (const id of ["a", "b"]) await alice.tool("create_session", { session_id: id });
    const told = await alice.tool("run_code", { session_id: "b", code: "1" });
    refused(told, "LIMIT_REACHED", /The server runs 2 interpreters, the most it may; try again later/);
    assert.match(await bob.run("mine", "1"), /1/);
    await subject.close();
  });

  test("calls that wait on one session", async () => {
    const told = await withoutHarm({ REPL_MAX_QUEUE: "2" }, async ({ client }) => {
      const alice = client("alice");
      await alice.tool("create_session", { session_id: "a" });
      const running = ["wait", "1", "2"].map((code) => alice.tool("run_code", { session_id: "a", code, timeout: 20 }));
      await until(async () => (await alice.tool("list_sessions", {})).text.includes('"busy":true'), "the call to run");
      const reply = await alice.tool("run_code", { session_id: "a", code: "3" });
      await alice.tool("reset_run_context", { session_id: "a" });
      const ended = await Promise.all(running);
      assert.deepEqual(
        ended.slice(1).map(({ isError }) => isError),
        [false, false],
      );
      return reply;
    });
    refused(told, "SESSION_BUSY", /The session has 2 calls waiting, its limit; wait for their replies/);
  });

  test("code of one call, in bytes", async () => {
    const told = await withoutHarm({ REPL_MAX_CODE_BYTES: "10" }, async ({ client }) => {
      const alice = client("alice");
      await alice.tool("create_session", { session_id: "a" });
      assert.match(await alice.run("a", "éééé"), /éééé/);
      return alice.tool("run_code", { session_id: "a", code: "éééééé" });
    });
    refused(told, "TOO_LARGE", /The code has 12 bytes, more than the limit of 10; run it as a file/);
  });

  test("blocks of one session", async () => {
    const told = await withoutHarm({ REPL_MAX_BLOCKS: "2" }, async ({ client }) => {
      const alice = client("alice");
      await alice.tool("create_session", { session_id: "a" });
      for (const code of ["1", "2"]) await alice.run("a", code);
      const reply = await alice.tool("run_code", { session_id: "a", code: "3" });
      await alice.tool("delete_history", { session_id: "a", start: 0 });
      assert.match(await alice.run("a", "4"), /4/);
      return reply;
    });
    refused(told, "LIMIT_REACHED", /The history has 2 blocks, its limit; delete_history makes room/);
  });

  test("output that history keeps of one session, in megabytes", async () => {
    const settings = { REPL_MAX_HISTORY_MB: "1", REPL_BLOCK_CHARS: "600000" };
    const told = await withoutHarm(settings, async ({ client }) => {
      const alice = client("alice");
      await alice.tool("create_session", { session_id: "a" });
      for (let n = 0; n < 3; n += 1) await alice.run("a", "print 600000");
      return alice.tool("run_code", { session_id: "a", code: "1" });
    });
    refused(told, "LIMIT_REACHED", /The history has reached its limit of 1 MB; delete_history makes room/);
  });

  test("output of one call and of one block: the rest is left out, and told", async () => {
    const told = await withoutHarm({ REPL_REPLY_CHARS: "1000", REPL_BLOCK_CHARS: "2000" }, async ({ client }) => {
      const alice = client("alice");
      await alice.tool("create_session", { session_id: "a" });
      return alice.tool("run_code", { session_id: "a", code: "print 50000" });
    });
    assert.equal(told.isError, false);
    assert.ok(told.text.length < 2500, String(told.text.length));
    assert.ok(Number(told.content.truncated_chars) > 48_000);
  });

  test("run time: a ceiling over the caller's own", async () => {
    const settings = { REPL_MAX_TIMEOUT: "1" };
    const subject = await makeApp({ tokens: ["alice"], settings });
    const alice = subject.client("alice");
    await alice.tool("create_session", { session_id: "a" });
    refused(
      await alice.tool("run_code", { session_id: "a", code: "1", timeout: 2 }),
      "INVALID_ARGUMENT",
      /timeout must be seconds above 0 and at most 1, not 2/,
    );
    const stopped = await alice.tool("run_code", { session_id: "a", code: "wait" });
    assert.equal(stopped.content.status, "timeout");
    assert.match(stopped.text, /timeout of 1 s/);
    await subject.close();
  });

  test("minutes of sandboxes per day: what runs goes on, what is new waits for tomorrow", async () => {
    const clock = { now: Date.UTC(2027, 0, 1, 12) };
    const minutes = (count: number): void => {
      clock.now += count * 60_000;
    };
    const now = (): number => clock.now;
    const backend = createFakeBackend({ leaseMs: 600_000, now });
    const settings = { REPL_SANDBOX_MINUTES_PER_DAY: "60", REPL_RATE_PER_MINUTE: "0" };
    const subject = await makeApp({ tokens: ["alice", "bob"], settings, backend, now });
    const [alice, bob] = [subject.client("alice"), subject.client("bob")];
    for (const client of [alice, bob]) await client.tool("create_session", { session_id: "a" });
    for (let n = 0; n < 6; n += 1) {
      await alice.run("a", "1");
      minutes(9);
    }
    const running = alice.tool("run_code", { session_id: "a", code: "wait", timeout: 20 });
    await until(async () => (await alice.tool("list_sessions", {})).text.includes('"busy":true'), "the call to run");
    minutes(7);
    await alice.tool("create_session", { session_id: "b" });
    const told = await alice.tool("run_code", { session_id: "b", code: "1" });
    refused(
      told,
      "LIMIT_REACHED",
      /You have used the 60 minutes of sandboxes that you have a day; the next day begins in 11 h/,
    );
    assert.match(await bob.run("a", "1"), /1/);
    await alice.tool("delete_session", { session_id: "a" });
    assert.equal((await running).content.status, "died");
    minutes(12 * 60);
    assert.match(await alice.run("b", "1"), /1/);
    await subject.close();
  });

  test("minutes of sandboxes: what nobody used counts to the end of its lease; a restart forgets nothing", async () => {
    const clock = { now: Date.UTC(2027, 0, 1, 0, 1) };
    const now = (): number => clock.now;
    const settings = { REPL_SANDBOX_MINUTES_PER_DAY: "25", REPL_RATE_PER_MINUTE: "0" };
    const options = { settings, now, backend: createFakeBackend({ leaseMs: 600_000, now }) };
    const first = await makeApp(options);
    await first.client().tool("create_session", { session_id: "a" });
    await first.client().run("a", "1");
    clock.now += 5 * 3_600_000; // Its lease was ten minutes.
    await first.client().run("a", "1");
    clock.now += 9 * 60_000;
    await first.client().run("a", "1");
    await first.close();
    const second = await makeApp({
      ...options,
      storage: first.storage,
      backend: createFakeBackend({ leaseMs: 600_000, now }),
    });
    await second.client().run("a", "1");
    clock.now += 7 * 60_000;
    const told = await second.client().tool("run_code", { session_id: "a", code: "1" });
    refused(told, "LIMIT_REACHED", /25 minutes of sandboxes/);
    await second.close();
  });

  test("interpreters that start at once: an owner's wait for each other, never for another's", async () => {
    const waiting = new Map<string, (() => void)[]>();
    const starting = (owner: string): Promise<void> =>
      new Promise((resolve) => waiting.set(owner, [...(waiting.get(owner) ?? []), resolve]));
    const subject = await makeApp({ tokens: ["alice", "bob"], backend: createFakeBackend({ starting }) });
    for (const id of ["a", "b", "c"]) await subject.client("alice").tool("create_session", { session_id: id });
    await subject.client("bob").tool("create_session", { session_id: "a" });
    await until(() => waiting.size === 2, "both owners' first starts");
    const [alices = [], bobs = []] = [...waiting.values()];
    assert.deepEqual([alices.length, bobs.length], [1, 1]);
    for (const [resolve] of [bobs, alices]) resolve?.();
    assert.match(await subject.client("bob").run("a", "1"), /1/);
    const owner = [...waiting.keys()][0] ?? "";
    for (const count of [2, 3]) {
      await until(() => waiting.get(owner)?.length === count, `alice's start ${count}`);
      waiting.get(owner)?.at(-1)?.();
    }
    assert.match(await subject.client("alice").run("c", "1"), /1/);
    await subject.close();
  });

  test("interpreters: each is told how many its owner has besides, whatever others have", async () => {
    const backend = createFakeBackend();
    const subject = await makeApp({ tokens: ["alice", "bob"], backend });
    for (const id of ["a", "b", "c"]) {
      await subject.client("alice").tool("create_session", { session_id: id });
      await subject.client("alice").run(id, "1");
    }
    await subject.client("bob").tool("create_session", { session_id: "a" });
    await subject.client("bob").run("a", "1");
    assert.deepEqual(
      backend.starts.map(({ others }) => others),
      [0, 1, 2, 0],
    );
    await subject.close();
  });

  test("a value that no limit can have stops the start, by name", async () => {
    const bad = { REPL_MAX_SESSIONS: "0", REPL_MAX_KERNELS: "-1", REPL_MAX_QUEUE: "many", REPL_MAX_BODY_BYTES: "1" };
    for (const [name, value] of Object.entries(bad)) {
      await assert.rejects(makeApp({ settings: { [name]: value } }), {
        name: "ConfigError",
        message: new RegExp(`^${name} `),
      });
    }
  });
});
