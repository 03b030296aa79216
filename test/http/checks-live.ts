import assert from "node:assert/strict";
import { until } from "../helpers/process.ts";
import { assertText, type Check, listed, sessionOf, type TestSession, untilEnded } from "./check.ts";
import type { ToolReply } from "./client.ts";

/** Prints a line that shows that it runs, then would take a minute. */
const LONG = "import time\nprint('started', flush=True)\nmark = 1\ntime.sleep(60)\nmark = 2";

/** From the cancel to the block's end; the interrupt itself has one second. */
const CANCEL_LIMIT_MS = 1000;

type Ongoing = { readonly reply: Promise<ToolReply | Error>; readonly cancel: () => void };

/** Starts `code` and waits until it has printed `started`. */
async function startRun(session: TestSession, code = LONG): Promise<Ongoing> {
  const controller = new AbortController();
  let seen = "";
  const onProgress = (message: string): void => {
    seen = message;
  };
  const reply = session
    .run(code, {}, { signal: controller.signal, onProgress })
    .catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
  await until(() => seen.includes("started"), `progress with what ${session.id} printed`);
  return { reply, cancel: () => controller.abort("The test has seen enough") };
}

/** The block was interrupted as a cancelled one, in time, and its variables are there. */
async function assertCancelled(session: TestSession, since: number): Promise<void> {
  const block = await untilEnded(session, 0);
  const elapsed = performance.now() - since;
  assert.equal(block.status, "cancelled");
  assert.ok(elapsed < CANCEL_LIMIT_MS, `Cancelled after ${Math.round(elapsed)} ms`);
  assertText(await session.run("mark"), "[2] mark\n1");
}

/** What happens while code runs. */
export const liveChecks: readonly Check[] = [
  {
    id: "progress brings what was printed while the code runs",
    async run({ session }) {
      const { run } = await session();
      const seen: string[] = [];
      const code = "import time\nfor n in range(3):\n    print('line', n, flush=True)\n    time.sleep(0.4)";
      const { structured } = await run(code, {}, { onProgress: (message) => seen.push(message) });
      assert.equal(structured.stdout, "line 0\nline 1\nline 2\n");
      assert.ok(
        seen.some((message) => message.includes("line 0") && !message.includes("line 2")),
        `Progress came before the end: ${JSON.stringify(seen)}`,
      );
    },
  },
  {
    id: "a cancel interrupts within a second, is recorded, and variables are kept",
    async run({ session }) {
      const own = await session();
      const { reply, cancel } = await startRun(own);
      const since = performance.now();
      cancel();
      await assertCancelled(own, since);
      assert.ok((await reply) instanceof Error, "The cancelled call gets no reply");
    },
  },
  {
    id: "a cancel of one call leaves those of other sessions alone",
    async run({ session }) {
      const [stopped, other] = [await session(), await session()];
      const first = await startRun(stopped);
      const second = await startRun(other, "import time\nprint('started', flush=True)\ntime.sleep(1)\n'done'");
      first.cancel();
      assert.equal((await untilEnded(stopped, 0)).status, "cancelled");
      const reply = await second.reply;
      assert.ok(!(reply instanceof Error) && reply.text.endsWith("'done'"), "The other call ends as it would have");
      await first.reply;
    },
  },
  {
    id: "a cancelled call that still waits for its turn never runs",
    async run({ session }) {
      const own = await session();
      const running = await startRun(own);
      const controller = new AbortController();
      const waiting = own.run("ran = True", {}, { signal: controller.signal }).catch((error: unknown) => error);
      await until(async () => (await own.call("get_history")).structured.total === 1, "the second call to wait");
      controller.abort();
      await waiting;
      running.cancel();
      await untilEnded(own, 0);
      assert.equal((await own.run("'ran' in globals()")).structured.result, "False");
      await running.reply;
    },
  },
  {
    id: "a client that drops its connection has cancelled its call",
    needs: "network",
    async run({ client, session, another }) {
      const { id } = await session();
      const dropped = await another();
      const { reply } = await startRun(sessionOf(dropped, id));
      const since = performance.now();
      await dropped.close();
      await assertCancelled(sessionOf(client, id), since);
      await reply;
    },
  },
  {
    id: "a timeout interrupts, keeps variables and says so",
    async run({ session }) {
      const { run } = await session();
      const since = performance.now();
      const reply = await run(LONG, { timeout: 0.7 });
      const elapsed = performance.now() - since;
      assert.ok(elapsed > 600 && elapsed < 3000, `Came back after ${Math.round(elapsed)} ms`);
      assert.deepEqual([reply.structured.status, reply.structured.state], ["timeout", "kept"]);
      assert.equal(reply.isError, true);
      assert.match(reply.text, /\nstarted\n/);
      assert.match(reply.text, /0\.7 s[\s\S]*kept/);
      assertText(await run("mark"), "[2] mark\n1");
    },
  },
  {
    id: "a crash is told with its exit code, and the next call works and says that variables are gone",
    async run({ client, session }) {
      const { id, run } = await session();
      await run("x = 1");
      const crash = await run("print('last words', flush=True)\nimport os\nos._exit(3)");
      assert.deepEqual([crash.structured.status, crash.structured.state], ["died", "lost"]);
      assert.match(crash.text, /last words[\s\S]*\b3\b/);
      assert.match(crash.text, /rerun_code/);
      const next = await run("'x' in globals()");
      assert.equal(next.structured.result, "False");
      assert.equal((await listed(client, id))?.alive, true);
    },
  },
  {
    id: "calls on one session run one after the other, in order of arrival",
    async run({ session, leg }) {
      const { run } = await session();
      await run("seen = []");
      const replies = ["a", "b", "c", "d"].map((name) => run(`seen.append("${name}")\n"".join(seen)`));
      const results = (await Promise.all(replies)).map(({ structured }) => String(structured.result).slice(1, -1));
      const longest = results.find(({ length }) => length === 4) ?? "";
      assert.deepEqual([...results].sort(), [1, 2, 3, 4].map((length) => longest.slice(0, length)).sort());
      assert.equal([...longest].sort().join(""), "abcd");
      // Requests on connections of their own may overtake each other on the way.
      if (leg.transport === "stdio") assert.equal(longest, "abcd");
    },
  },
  {
    id: "sessions do not wait for each other and share nothing",
    async run({ session }) {
      const [slow, quick] = [await session(), await session()];
      await quick.run("x = 'quick'");
      const { reply, cancel } = await startRun(slow, `x = 'slow'\n${LONG}`);
      assert.equal((await quick.run("x")).structured.result, "'quick'");
      cancel();
      await untilEnded(slow, 0);
      assert.equal((await slow.run("x")).structured.result, "'slow'");
      await reply;
    },
  },
  {
    id: "several connections see the same sessions",
    needs: "network",
    async run({ session, another }) {
      const { id, run } = await session();
      await run("x = 'shared'");
      const other = sessionOf(await another(), id);
      assert.equal((await other.run("x")).structured.result, "'shared'");
    },
  },
  {
    id: "a session that is deleted while code runs ends it",
    async run({ client, session }) {
      const own = await session();
      const { reply } = await startRun(own);
      assert.equal((await client.call("delete_session", { session_id: own.id })).isError, false);
      const ended = await reply;
      assert.ok(ended instanceof Error || ended.isError, "The running call does not succeed");
      assert.equal(await listed(client, own.id), undefined);
    },
  },
  {
    id: "reset_run_context stops running code and keeps the history",
    async run({ session }) {
      const own = await session();
      const { reply } = await startRun(own);
      assert.equal((await own.call("reset_run_context")).isError, false);
      const ended = await reply;
      assert.ok(!(ended instanceof Error) && ended.isError, "The running call is told that it was stopped");
      assert.notEqual((await untilEnded(own, 0)).status, "ok");
      assert.equal((await own.run("'mark' in globals()")).structured.result, "False");
    },
  },
];
