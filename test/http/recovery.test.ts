import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import { blocksOf, listed, sessionOf } from "./check.ts";
import { connect, createSession, temporaryFolder } from "./processes.ts";

/** Milliseconds from an acknowledged block to the kill, while further blocks run: another moment of the work each time. */
const KILL_AFTER_MS = [0, 2, 5, 11, 23, 47];

function startOn(folder: string): Promise<ServerProcess> {
  return startServer({ REPL_STORAGE: `fs:${folder}/history`, REPL_LOG: "off" });
}

describe("a server that was killed and started again on the same folder", { concurrency: 2 }, () => {
  test("has the block that ran as interrupted, says that variables are gone, and can bring them back", async (context) => {
    const folder = await temporaryFolder(context);
    const first = await startOn(folder);
    const session = await createSession(await connect(context, { url: first.url }), "s");
    await session.run("x = 41");
    let started = "";
    const code = "import time\nprint('started', flush=True)\ntime.sleep(300)";
    session.run(code, {}, { onProgress: (message) => (started = message) }).catch(() => "never answered");
    await until(() => started.includes("started"), "the code to run");
    await first.stop("SIGKILL");

    const second = await startOn(folder);
    context.after(() => second.stop());
    const client = await connect(context, { url: second.url });
    assert.deepEqual(await listed(client, "s").then((facts) => [facts?.alive, facts?.busy, facts?.history_count]), [
      false,
      false,
      2,
    ]);
    const again = sessionOf(client, "s");
    assert.deepEqual(
      (await blocksOf(again)).map(({ status, in_memory }) => ({ status, in_memory })),
      [
        { status: "ok", in_memory: false },
        { status: "interrupted", in_memory: false },
      ],
    );
    const gone = await again.run("'x' in globals()");
    assert.match(gone.text, /^\[3\] [\s\S]*False/);
    assert.match(gone.text, /variables?[\s\S]*(lost|gone)[\s\S]*rerun_code|rerun_code[\s\S]*variables?/i);
    const told = await again.run("1");
    assert.doesNotMatch(told.text, /rerun_code/, "It is told once");
    assert.equal((await again.call("rerun_code", { start: 0, end: 1 })).isError, false);
    assert.equal((await again.run("x + 1")).structured.result, "42");
  });

  test("has every block that was acknowledged, whenever it was killed", async (context) => {
    const folder = await temporaryFolder(context);
    const acknowledged: string[] = [];
    let server = await startOn(folder);
    context.after(() => server.stop("SIGKILL"));
    const { id } = await createSession(await connect(context, { url: server.url }), "s");
    for (const [round, delay] of KILL_AFTER_MS.entries()) {
      const session = sessionOf(await connect(context, { url: server.url }), id);
      let killed: Promise<unknown> | undefined;
      for (let n = 0; n < 10_000; n += 1) {
        const code = `'${round}.${n}'`;
        const reply = await session.run(code).catch(() => undefined);
        if (reply === undefined) break;
        assert.equal(reply.structured.result, code);
        acknowledged.push(code);
        killed ??= pause(delay).then(() => server.stop("SIGKILL"));
      }
      await killed;
      server = await startOn(folder);
      const client = await connect(context, { url: server.url });
      const { text } = await client.read(`repl://sessions/${id}/history.json`);
      const history = historyOf(text ?? "");
      const ok = history.filter(({ status }) => status === "ok").map(({ code }) => code);
      assert.deepEqual(
        acknowledged.filter((code) => !ok.includes(code)),
        [],
        `Round ${round} lost blocks`,
      );
      assert.deepEqual(ok, [...ok].sort(byRound), "Blocks are in the order in which they ran");
      assert.ok(history.every(({ status }) => status === "ok" || status === "interrupted"));
      assert.equal((await listed(client, id))?.alive, false);
    }
    assert.ok(acknowledged.length >= KILL_AFTER_MS.length, `${acknowledged.length} blocks were acknowledged`);
  });

  test("has a session whose creation was acknowledged, and not one that was deleted", async (context) => {
    const folder = await temporaryFolder(context);
    const first = await startOn(folder);
    const client = await connect(context, { url: first.url });
    await createSession(client, "kept");
    await createSession(client, "deleted");
    await client.call("delete_session", { session_id: "deleted" });
    await first.stop("SIGKILL");
    const second = await startOn(folder);
    context.after(() => second.stop());
    const { structured } = await (await connect(context, { url: second.url })).call("list_sessions");
    assert.deepEqual(
      (structured.sessions as { session_id: string }[]).map(({ session_id }) => session_id),
      ["kept"],
    );
  });

  test("goes on after an orderly end as well", async (context) => {
    const folder = await temporaryFolder(context);
    const first = await startOn(folder);
    const session = await createSession(await connect(context, { url: first.url }), "s");
    await session.run("'kept'");
    assert.equal((await first.stop()).code, 0);
    const second = await startOn(folder);
    context.after(() => second.stop());
    const again = sessionOf(await connect(context, { url: second.url }), "s");
    assert.equal((await again.call("get_history")).structured.total, 1);
    assert.match((await again.run("2")).text, /rerun_code/);
  });
});

type ExportedBlock = { readonly code: string; readonly status: string };

function historyOf(json: string): ExportedBlock[] {
  const { blocks } = JSON.parse(json) as { blocks: ExportedBlock[] };
  return blocks;
}

function byRound(a: string, b: string): number {
  const [roundA = 0, nA = 0] = a.slice(1, -1).split(".").map(Number);
  const [roundB = 0, nB = 0] = b.slice(1, -1).split(".").map(Number);
  return roundA - roundB || nA - nB;
}
