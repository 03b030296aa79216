import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, mkdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type Environment, ROOT, runToEnd, SERVER_COMMAND } from "../helpers/process.ts";
import { startServer } from "../helpers/server.ts";
import { connect, createSession, temporaryFolder } from "./processes.ts";

function run(args: readonly string[], env: Environment = {}) {
  return runToEnd([...SERVER_COMMAND, ...args], { env: { REPL_STORAGE: "memory", ...env } });
}

/** One sentence on stderr that names each of `mentions`, nothing on stdout, and exit code 2. */
async function assertRefuses(args: readonly string[], env: Environment, ...mentions: string[]): Promise<void> {
  const { code, stdout, stderr } = await run(args, env);
  assert.match(stderr, /^edge-python-repl: [^\n]+\n$/, stderr);
  for (const mention of mentions) assert.ok(stderr.includes(mention), `${stderr} names ${mention}`);
  assert.deepEqual([code, stdout], [2, ""]);
}

describe("the command line", { concurrency: 2 }, () => {
  test("--help says how to start it and names its settings", async () => {
    const { code, stdout, stderr } = await run(["--help"]);
    assert.deepEqual([code, stderr], [0, ""]);
    for (const part of ["Usage", "--port", "MCP_PORT", "REPL_PYTHON", "stdio", "--version"]) {
      assert.ok(stdout.includes(part), part);
    }
    assert.equal((await run(["-h"])).stdout, stdout);
  });

  test("--version prints the version of the package", async () => {
    const { version } = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
    assert.deepEqual(await run(["--version"]).then(({ code, stdout }) => [code, stdout]), [0, `${version}\n`]);
  });

  test("an unknown or bad setting is one sentence and exit code 2", async () => {
    await assertRefuses([], { REPL_NO_SUCH: "1" }, "REPL_NO_SUCH");
    await assertRefuses([], { REPL_MAX_SESSIONS: "many" }, "REPL_MAX_SESSIONS", "many");
    await assertRefuses([], { MCP_PORT: "70000" }, "MCP_PORT", "70000");
    await assertRefuses([], { MCP_TRANSPORT: "carrier-pigeon" }, "MCP_TRANSPORT", "streamable-http");
    await assertRefuses([], { REPL_STORAGE: "nowhere:x" }, "REPL_STORAGE");
    await assertRefuses(["--no-such-flag"], {}, "--no-such-flag");
    await assertRefuses(["--port", "x"], {}, "MCP_PORT");
  });

  test("an address that others can reach needs authentication", async () => {
    await assertRefuses([], { MCP_TRANSPORT: "streamable-http", MCP_HOST: "0.0.0.0", MCP_PORT: "0" }, "REPL_AUTH");
  });

  test("a port that is taken is one sentence and exit code 2", async () => {
    const taken = createServer().listen(0, "127.0.0.1");
    await once(taken, "listening");
    const { port } = taken.address() as { port: number };
    await assertRefuses(["--transport", "streamable-http", "--port", String(port)], {}, String(port), "MCP_PORT");
    taken.close();
  });

  test("a storage folder that cannot be made is one sentence and exit code 2", async (context) => {
    const folder = await temporaryFolder(context);
    await writeFile(join(folder, "file"), "");
    await assertRefuses(
      ["--transport", "streamable-http", "--port", "0"],
      { REPL_STORAGE: `fs:${folder}/file/below` },
      "file",
    );
  });

  test("without Python it says what to install or set", async (context) => {
    const empty = join(await temporaryFolder(context), "bin");
    await mkdir(empty);
    await assertRefuses([], { PATH: empty }, "Python", "REPL_PYTHON");
    await assertRefuses([], { REPL_PYTHON: "/no/such/python" }, "/no/such/python", "REPL_PYTHON");
  });

  test("a Python that is too old, or none at all, is refused by name", async (context) => {
    const folder = await temporaryFolder(context);
    const old = join(folder, "python3");
    const pretend = `import sys; sys.version_info = (3, 8, 20, "final", 0); exec(sys.argv[4])`;
    await writeFile(old, `#!/bin/sh\nexec python3 -c '${pretend}' "$@"\n`);
    await chmod(old, 0o755);
    await assertRefuses([], { REPL_PYTHON: old }, "3.8.20", "3.9", "REPL_PYTHON");
    const other = join(folder, "other");
    await writeFile(other, "#!/bin/sh\nexit 0\n");
    await chmod(other, 0o755);
    await assertRefuses([], { REPL_PYTHON: other }, other, "REPL_PYTHON");
  });

  test("flags win over the environment, and the start says URL, Python, history and client configuration", async () => {
    const server = await startServer({ MCP_PORT: "1", REPL_STORAGE: "no:thing" }, [
      ...SERVER_COMMAND,
      "--port",
      "0",
      "--storage",
      "memory",
    ]);
    try {
      assert.match(server.stderr(), /Python 3\.\d+\.\d+/);
      assert.match(server.stderr(), /history/);
      const [json = ""] = /\{[\s\S]*\}/.exec(server.stderr()) ?? [];
      assert.equal(JSON.parse(json).mcpServers.python.url, server.url.href);
      assert.equal(server.running.stdout(), "");
    } finally {
      await server.stop();
    }
  });

  test("user code sees neither the settings nor the secrets of the server", async (context) => {
    const server = await startServer({ REPL_CWD: "/tmp", MY_OWN: "kept", E2B_API_KEY: "not-a-key" });
    context.after(() => server.stop());
    const session = await createSession(await connect(context, { url: server.url }), "s");
    const code =
      "import os\nsorted(n for n in os.environ if n.startswith(('REPL_', 'MCP_', 'E2B_', 'EDGE_REPL', 'MY_OWN')))";
    assert.equal((await session.run(code)).structured.result, "['MY_OWN']");
    assert.equal((await session.run("os.getcwd()")).structured.result, "'/tmp'");
  });
});
