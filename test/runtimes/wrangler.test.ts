import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { startStandIn } from "../e2b/stand-in.ts";
import { isAlive, ROOT, runToEnd, start, until } from "../helpers/process.ts";
import { untilEnded } from "../http/check.ts";
import { connect } from "../http/processes.ts";
import { e2bSettings, LEGACY, newSession, SSE, startLong } from "./setup.ts";
import { noWrangler, WRANGLER, wranglerEnvironment } from "./wrangler.ts";

/** Bytes of the Worker as it is uploaded, compressed. */
const MAX_GZIP_BYTES = 300_000;

const skip = noWrangler;

test("the Worker that would be deployed is small and asks for no module of Node", { skip }, async (context) => {
  const out = await mkdtemp(join(tmpdir(), "wrangler-"));
  context.after(() => rm(out, { recursive: true, force: true }));
  const args = ["deploy", "--dry-run", "--minify", "--outdir", out] as const;
  const { code, stdout, stderr } = await runToEnd([...WRANGLER, ...args], { cwd: ROOT, env: wranglerEnvironment() });
  assert.equal(code, 0, stderr);
  assert.doesNotMatch(stderr + stdout, /warning/i);
  const kibibytes = Number(/gzip: ([\d.]+) KiB/.exec(stdout)?.[1]);
  context.diagnostic(`${kibibytes} KiB compressed`);
  assert.ok(kibibytes * 1024 <= MAX_GZIP_BYTES, stdout);
  const text = await readFile(join(out, "cloudflare.js"), "utf8");
  assert.deepEqual(text.match(/\b(?:from|import)\s*\(?["'](?:node|cloudflare):[^"']+["']/g), null);
  assert.doesNotMatch(text, /child_process/);
});

test("wrangler dev serves sessions to clients of all eras", { skip }, async (context) => {
  const standIn = await startStandIn();
  context.after(() => standIn.close());
  const folder = await mkdtemp(join(tmpdir(), "wrangler-dev-"));
  context.after(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
  const vars = Object.entries({ ...e2bSettings(standIn), REPL_AUTH: "none" });
  const options = ["--ip", "127.0.0.1", "--port", "0", "--inspector-port", "0", "--persist-to", folder];
  const args = [...options, ...vars.flatMap(([name, value]) => ["--var", `${name}:${value}`])];
  const dev = await start([...WRANGLER, "dev", "--show-interactive-dev-session=false", ...args], {
    cwd: ROOT,
    env: wranglerEnvironment(),
    detached: true,
  });
  context.after(async () => {
    process.kill(-dev.pid, "SIGTERM");
    await dev.exited;
  });
  const address = await until(() => /Ready on (http:\S+)/.exec(dev.stdout())?.[1], "wrangler to be ready", 30_000);
  const url = new URL("/mcp", address);

  const client = await connect(context, { url });
  const session = await newSession(client, "dev");
  await session.run("x = 41");
  for (const leg of [LEGACY, SSE]) {
    const other = await connect(context, { url }, leg);
    const reply = await other.call("run_code", { session_id: "dev", code: "x + 1" });
    assert.equal(reply.structured.result, "42", leg.name);
  }
  const dropped = await connect(context, { url });
  await startLong({
    ...session,
    run: (code, more, how) => dropped.call("run_code", { session_id: "dev", code, ...more }, how),
  });
  await dropped.close();
  assert.equal((await untilEnded(session, 3)).status, "cancelled");
  assert.equal((await session.run("mark")).structured.result, "1");
  await session.call("delete_session");
  assert.equal((await fetch(new URL("/cdn-cgi/local/scheduled", address))).status, 200);
  assert.ok(isAlive(dev.pid), dev.stderr());
});
