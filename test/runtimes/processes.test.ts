import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { until } from "../helpers/process.ts";
import { type ServerProcess, startServer } from "../helpers/server.ts";
import { sessionOf } from "../http/check.ts";
import type { ReplClient } from "../http/client.ts";
import { connect } from "../http/processes.ts";
import { noRedis, type RedisServer, startRedis } from "../stores/redis-server.ts";
import { e2bSettings, LEGACY, MODERN, newSession, startLong } from "./setup.ts";

/** Three servers of Node over one Redis, whose sessions run in sandboxes: to clients they are one. */
describe("three processes over one Redis", { skip: noRedis }, () => {
  let standIn: StandIn;
  let redis: RedisServer;
  let servers: ServerProcess[];
  before(async () => {
    standIn = await startStandIn();
    redis = await startRedis();
    const env = { ...e2bSettings(standIn), REPL_STORAGE: redis.url, REPL_LOG: "off" };
    servers = await Promise.all([startServer(env), startServer(env), startServer(env)]);
  });
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()));
    await redis.stop();
    await standIn.close();
  });

  async function clientsOf(context: Parameters<typeof connect>[0]): Promise<[ReplClient, ReplClient, ReplClient]> {
    const [one, two, three] = await Promise.all(
      servers.map(({ url }, index) => connect(context, { url }, LEGS[index])),
    );
    assert.ok(one && two && three);
    return [one, two, three];
  }
  // A client of 2025 whose stream is cut waits for its own time limit, so that it is not the one whose server is killed.
  const LEGS = [MODERN, MODERN, LEGACY];

  test("share one interpreter per session, through resets and reruns by any of them", async (context) => {
    const [one, two, three] = await clientsOf(context);
    const session = await newSession(one, "shared");
    await session.run("x = 1");
    assert.equal((await sessionOf(two, "shared").run("x += 1\nx")).structured.result, "2");
    assert.equal((await session.run("x += 1\nx")).structured.result, "3");

    assert.equal((await sessionOf(three, "shared").call("reset_run_context")).isError, false);
    assert.equal((await session.run("'x' in globals()")).text, "[4] 'x' in globals()\nFalse");
    await sessionOf(two, "shared").run("y = 'of two'");
    assert.equal((await sessionOf(three, "shared").run("y")).structured.result, "'of two'");

    assert.equal((await sessionOf(two, "shared").call("rerun_code", { start: 0, end: 3 })).isError, false);
    assert.equal((await session.run("x")).text, "[7] x\n3");
    const owned = [...standIn.sandboxes.values()].filter(({ spec }) => spec.metadata.session === "shared");
    assert.equal(owned.length, 1);
    await session.call("delete_session");
  });

  test("know what another one runs", async (context) => {
    const [one, two] = await clientsOf(context);
    const controller = new AbortController();
    const { reply } = await startLong(await newSession(one, "busy"), controller.signal);
    const history = await sessionOf(two, "busy").call("get_history");
    assert.equal((history.structured.blocks as { status: string }[])[0]?.status, "running");
    assert.equal((await sessionOf(two, "busy").call("delete_history", { start: 0 })).structured.code, "SESSION_BUSY");
    controller.abort();
    await reply;
    assert.equal((await sessionOf(two, "busy").run("mark")).structured.result, "1");
    await sessionOf(two, "busy").call("delete_session");
  });

  test("run each call once, in turn, and lose none that was acknowledged when one is killed", {
    timeout: 60_000,
  }, async (context) => {
    const [one, two, three] = await clientsOf(context);
    const ids = ["a", "b", "c"];
    for (const id of ids) await (await newSession(one, id)).run("log = []");
    const acknowledged: { readonly id: string; readonly mark: string; readonly index: number }[] = [];
    const append = async (client: ReplClient, id: string, mark: string): Promise<void> => {
      const reply = await sessionOf(client, id).run(`log.append("${mark}")`);
      assert.equal(reply.isError, false, reply.text);
      acknowledged.push({ id, mark, index: Number(reply.structured.index) });
    };
    const work = [one, two, three].flatMap((client, process) =>
      ids.map(async (id) => {
        for (let step = 0; step < 8; step += 1) {
          const sent = append(client, id, `${process}.${step}`);
          // Calls of the process that is killed fail; all others must not.
          await (process === 1 ? sent.catch(() => undefined) : sent);
        }
      }),
    );
    await until(() => acknowledged.some(({ mark }) => mark.startsWith("1.")), "the second process to have run a call");
    await servers[1]?.stop("SIGKILL");
    await Promise.all(work);

    for (const id of ids) {
      const { text = "" } = await three.read(`repl://sessions/${id}/history.json`);
      const { blocks } = JSON.parse(text) as { blocks: { index: number; code: string; status: string }[] };
      const mine = acknowledged.filter((call) => call.id === id);
      for (const { mark, index } of mine) {
        const found = blocks.filter(({ code }) => code === `log.append("${mark}")`);
        assert.deepEqual(
          found.map((block) => [block.index, block.status]),
          [[index, "ok"]],
          `${id}: ${mark}`,
        );
      }
      // Exactly what is recorded as run was run, in the order of the history; a call that was cut off may have been.
      const recorded = blocks.flatMap(({ code, status }) => {
        const mark = /log\.append\("(.+)"\)/.exec(code)?.[1];
        return mark === undefined ? [] : [{ mark, status }];
      });
      const run = JSON.parse(
        String((await sessionOf(one, id).run("import json\nprint(json.dumps(log))")).structured.stdout),
      );
      assert.deepEqual(
        recorded.filter(({ mark, status }) => status === "ok" || run.includes(mark)).map(({ mark }) => mark),
        run,
      );
      await sessionOf(one, id).call("delete_session");
    }
    assert.ok(acknowledged.length >= 48, `${acknowledged.length} calls were acknowledged`);
    await until(() => standIn.sandboxes.size === 0, "no sandbox to be left");
  });
});
