import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { ROOT, runToEnd } from "../helpers/process.ts";
import { startServer } from "../helpers/server.ts";
import { connect } from "../http/processes.ts";
import { missing, runtimeOf } from "./runtimes.ts";
import { newSession } from "./setup.ts";

const deno = runtimeOf("deno");
const [program] = deno.http;
const entry = join(ROOT, "adapters/deno.ts");
const folder = mkdtempSync(join(tmpdir(), "deno-"));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
/** No question is asked where there is nobody to answer it. */
const run = [program, "run", "--no-prompt"] as const;
const settings = { MCP_PORT: "0", REPL_STORAGE: `fs:${join(folder, "history")}`, DENO_DIR: join(folder, "deno") };

/** What the task `start` may do. */
const ALLOWED = deno.http.filter((arg) => arg.startsWith("--allow-"));
const without = (name: string): string[] => ALLOWED.filter((flag) => !flag.startsWith(`--allow-${name}`));

describe("Deno", { skip: missing(deno), concurrency: 2 }, () => {
  for (const name of ["env", "read", "write", "run", "sys", "net"]) {
    test(`without --allow-${name} the server does not start, and names it`, async () => {
      const ended = await runToEnd([...run, ...without(name), entry], { env: settings });
      assert.equal(ended.code, 2, ended.stderr);
      assert.match(ended.stderr, new RegExp(`^edge-python-repl: [^\\n]*--allow-${name}\\b[^\\n]*\\n$`));
    });
  }

  test("without the network of E2B a run says which permission is missing", async (context) => {
    const env = { ...settings, REPL_STORAGE: "memory", REPL_BACKEND: "e2b", E2B_API_KEY: "some-key", REPL_LOG: "off" };
    const server = await startServer(env, [...run, "--allow-env", "--allow-net=127.0.0.1", entry]);
    context.after(() => server.stop());
    const session = await newSession(await connect(context, { url: server.url }), "net");
    const reply = await session.run("1");
    assert.equal(reply.structured.code, "BACKEND_UNAVAILABLE");
    assert.match(reply.text, /net access to \\"api\.e2b\.app:443\\"[^\n]*--allow-net/);
  });

  test("a bad setting is told without a word about permissions", async () => {
    const ended = await runToEnd([...run, "--allow-env", entry], { env: { ...settings, REPL_TIMEOUT: "soon" } });
    assert.deepEqual([ended.code, ended.stderr.includes("--allow")], [2, false], ended.stderr);
  });

  test("deno task start serves sessions", async (context) => {
    const command = [program, "task", "--quiet", "--cwd", ROOT, "start"] as const;
    const server = await startServer({ ...settings, REPL_LOG: "off" }, [...command]);
    context.after(() => server.stop());
    const session = await newSession(await connect(context, { url: server.url }), "task");
    assert.equal((await session.run("6 * 7")).structured.result, "42");
  });

  describe("on Deno Deploy", () => {
    const deployed = { ...settings, REPL_STORAGE: "", DENO_DEPLOYMENT_ID: "some-deployment", E2B_API_KEY: "some-key" };

    test("the server is open to others, so that it wants tokens", async () => {
      const ended = await runToEnd([...run, "--allow-all", entry], { env: deployed });
      assert.equal(ended.code, 2);
      assert.match(ended.stderr, /MCP_HOST=0\.0\.0\.0 would let anyone on the network run code at your cost/);
    });

    test("sandboxes and Deno KV are chosen", async (context) => {
      const env = { ...deployed, MCP_HOST: "127.0.0.1" };
      const server = await startServer(env, [...run, "--allow-all", entry]);
      context.after(() => server.stop());
      assert.match(server.stderr(), /runs code with {2}E2B cloud sandboxes\n {2}keeps history in {2}Deno KV\n/);
    });
  });
});
