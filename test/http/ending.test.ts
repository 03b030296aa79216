import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { cleanEnvironment, isAlive, SERVER_COMMAND, start, until, within } from "../helpers/process.ts";
import { startServer } from "../helpers/server.ts";
import { BUSY, connect, createSession, startProcesses, temporaryFolder, untilGone } from "./processes.ts";
import { initialize, toolCall } from "./raw.ts";

/** From the signal to the end of the server, whatever runs. */
const END_LIMIT_MS = 5000;
/** From a kill to the end of what the server had started. */
const NOTICE_LIMIT_MS = 5000;

describe("a server that is told to end", { concurrency: 2 }, () => {
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    for (const [what, code] of Object.entries(BUSY)) {
      test(`by ${signal} takes ${what} and its children along`, async (context) => {
        const server = await startServer({ REPL_LOG: "off" });
        const session = await createSession(await connect(context, { url: server.url }), "s");
        const pids = await startProcesses(session, await temporaryFolder(context), code);
        const since = performance.now();
        const { code: exitCode } = await server.stop(signal);
        const elapsed = performance.now() - since;
        assert.ok(elapsed < END_LIMIT_MS, `Ended after ${Math.round(elapsed)} ms`);
        assert.equal(exitCode, 0, server.stderr());
        await untilGone(pids, 500);
      });
    }
  }

  test("takes no new connection meanwhile, and answers the call that runs", async (context) => {
    const server = await startServer({ REPL_LOG: "off" });
    const session = await createSession(await connect(context, { url: server.url }), "s");
    let started = "";
    const code = "import time\nprint('started', flush=True)\ntime.sleep(300)";
    const reply = session.run(code, {}, { onProgress: (message) => (started = message) });
    await until(() => started.includes("started"), "the code to run");
    const ended = server.stop();
    await until(
      () =>
        fetch(new URL("/healthz", server.url)).then(
          () => false,
          () => true,
        ),
      "connections to be refused",
    );
    const { structured, text } = await reply;
    assert.notEqual(structured.status, "ok");
    assert.match(text, /started/);
    assert.equal((await ended).code, 0);
  });
});

describe("a server that is killed", { concurrency: 2 }, () => {
  for (const [what, code] of Object.entries(BUSY)) {
    test(`leaves ${what} without a process behind`, async (context) => {
      const server = await startServer({ REPL_LOG: "off" });
      const session = await createSession(await connect(context, { url: server.url }), "s");
      const pids = await startProcesses(session, await temporaryFolder(context), code);
      await server.stop("SIGKILL");
      await untilGone(pids, NOTICE_LIMIT_MS);
    });
  }
});

describe("a stdio server", { concurrency: 2 }, () => {
  async function startStdio() {
    const env = cleanEnvironment({ MCP_TRANSPORT: "stdio", REPL_STORAGE: "memory", REPL_LOG: "off" });
    const running = await start(SERVER_COMMAND, { env });
    const write = (message: object): void => void running.child.stdin?.write(`${JSON.stringify(message)}\n`);
    const answerTo = (id: number | string) =>
      until(() => {
        const lines = running
          .stdout()
          .split("\n")
          .filter((line) => line !== "");
        return lines.map((line) => JSON.parse(line)).find((message) => message.id === id);
      }, `the answer to ${id}`);
    write(initialize());
    await answerTo(0);
    write({ jsonrpc: "2.0", method: "notifications/initialized" });
    write(toolCall("create_session", { session_id: "s" }));
    await answerTo(1);
    return { running, write, answerTo };
  }

  for (const [what, code] of Object.entries(BUSY)) {
    test(`whose stdin ends takes ${what} and its children along`, async (context) => {
      const { running, write } = await startStdio();
      const session = {
        id: "s",
        run: async (source: string) => {
          write(toolCall("run_code", { session_id: "s", code: source }, "run"));
          return code === ""
            ? await until(() => running.stdout().includes('"run"') || undefined, "the reply")
            : undefined;
        },
      };
      const pids = await startProcesses(session as never, await temporaryFolder(context), code);
      running.child.stdin?.end();
      const { code: exitCode } = await within(running.exited, END_LIMIT_MS, "the server to end");
      assert.equal(exitCode, 0, running.stderr());
      await untilGone(pids, 500);
    });
  }

  test("ends by SIGTERM, too", async () => {
    const { running } = await startStdio();
    running.child.kill("SIGTERM");
    assert.equal((await within(running.exited, END_LIMIT_MS, "the server to end")).code, 0);
    assert.equal(isAlive(running.pid), false);
  });

  test("writes nothing but messages to stdout, whatever user code writes", async () => {
    const { running, write, answerTo } = await startStdio();
    const code = [
      "import os, subprocess, sys",
      "print('printed')",
      "os.write(1, b'raw one\\n'); os.write(2, b'raw two\\n')",
      "subprocess.run(['echo', 'of a child'])",
      'sys.__stdout__.write(\'{"jsonrpc": "2.0", "id": 99, "result": {}}\\n\')',
      "os.system('echo of a shell > /proc/$PPID/fd/1 2>/dev/null')",
    ].join("\n");
    write(toolCall("run_code", { session_id: "s", code }, "run"));
    const { result } = await answerTo("run");
    for (const text of ["printed", "raw one", "raw two", "of a child", '"id": 99']) {
      assert.ok(result.content[0].text.includes(text), `${text} is in the reply`);
    }
    const lines = running
      .stdout()
      .split("\n")
      .filter((line) => line !== "");
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).id),
      [0, 1, "run"],
    );
    running.child.stdin?.end();
    await within(running.exited, END_LIMIT_MS, "the server to end");
  });

  test("answers a line that is no message with an error and goes on", async () => {
    const { running, write, answerTo } = await startStdio();
    running.child.stdin?.write('nonsense\n\n{"half": \n');
    write(toolCall("list_sessions", {}, "after"));
    assert.equal((await answerTo("after")).result.structuredContent.total, 1);
    running.child.stdin?.end();
    await within(running.exited, END_LIMIT_MS, "the server to end");
  });
});
