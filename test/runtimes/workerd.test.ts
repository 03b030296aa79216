import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { sha256 } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { formatTokenEntry } from "../../src/auth/token-entry.ts";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { until, within } from "../helpers/process.ts";
import { untilEnded } from "../http/check.ts";
import type { ReplClient } from "../http/client.ts";
import { connect } from "../http/processes.ts";
import { send } from "../http/raw.ts";
import { e2bSettings, LEGACY, MODERN, newSession, SSE, startLong } from "./setup.ts";
import { startWorkerd, type Workerd, type WorkerOptions } from "./workerd.ts";

let standIn: StandIn;
before(async () => {
  standIn = await startStandIn();
});
after(() => standIn.close());

/** What a Worker that is set up like this answers. */
async function answerOf(options: WorkerOptions, headers: Record<string, string> = {}): Promise<[number, string]> {
  const worker = await startWorkerd(options);
  try {
    const response = await fetch(new URL("/healthz", worker.url), { headers });
    return [response.status, ((await response.json()) as { error?: string }).error ?? ""];
  } finally {
    await worker.stop();
  }
}

describe("a Worker that is not set up says in one sentence what is wrong", () => {
  const key = { E2B_API_KEY: "some-key" };
  const cases: readonly [string, WorkerOptions, RegExp][] = [
    ["no API key", { env: {} }, /needs E2B_API_KEY/],
    ["no objects", { env: key, withoutObjects: true }, /binding OWNERS of the class OwnerObject is missing/],
    ["lost clients unnoticed", { env: key, compatibilityFlags: [] }, /flag enable_request_signal is missing/],
    ["no tokens", { env: { ...key, REPL_AUTH: "token" } }, /REPL_TOKENS must be set/],
    ["unknown setting", { env: { ...key, REPL_TIMEOT: "1" } }, /Unknown setting REPL_TIMEOT/],
    ["local backend", { env: { ...key, REPL_BACKEND: "subprocess" } }, /no processes: REPL_BACKEND must be e2b/],
    ["a store", { env: { ...key, REPL_STORAGE: "memory" } }, /REPL_STORAGE must not be set/],
  ];
  for (const [name, options, message] of cases) {
    test(name, async () => {
      const [status, error] = await answerOf(options);
      assert.equal(status, 503);
      assert.match(error, message);
      assert.doesNotMatch(error, /\n| at /);
    });
  }
});

test("without authentication nobody but this machine is let in", async (context) => {
  const worker = await startWorkerd({ env: { ...e2bSettings(standIn), REPL_ALLOWED_HOSTS: "a.example" } });
  context.after(() => worker.stop());
  const stranger = await send(worker.url, { method: "GET", path: "/healthz", headers: { host: "a.example" } });
  assert.equal(stranger.status, 403);
  assert.match(stranger.text, /REPL_AUTH=none would let anyone run code at your cost/);
  assert.equal((await send(worker.url, { method: "GET", path: "/healthz" })).status, 200);
});

test("it needs no nodejs_compat, and runs on old compatibility dates", async (context) => {
  const flags = ["enable_request_signal", "no_nodejs_compat"];
  for (const [compatibilityDate, compatibilityFlags] of [
    ["2026-11-01", flags],
    ["2025-09-01", ["enable_request_signal"]],
  ] as const) {
    const worker = await startWorkerd({ env: e2bSettings(standIn), compatibilityDate, compatibilityFlags });
    context.after(() => worker.stop());
    const client = await connect(context, { url: worker.url });
    const session = await newSession(client, "old");
    assert.equal((await session.run("6 * 7")).structured.result, "42");
    await session.call("delete_session");
  }
});

describe("owners", () => {
  let worker: Workerd;
  const tokens = { ann: newToken(), bob: newToken() };
  before(async () => {
    const entries = await Promise.all(
      Object.entries(tokens).map(async ([name, token]) =>
        formatTokenEntry({ name, scopes: ["repl:read", "repl:run"], hash: await sha256(token) }),
      ),
    );
    worker = await startWorkerd({
      env: { ...e2bSettings(standIn), REPL_AUTH: "token", REPL_TOKENS: entries.join(",") },
    });
  });
  after(() => worker.stop());
  const headersOf = (name: keyof typeof tokens) => ({ Authorization: `Bearer ${tokens[name]}` });

  test("each has sessions of their own, seen through every isolate", async (context) => {
    const ann = await connect(context, { url: worker.url, headers: headersOf("ann") });
    const again = await connect(context, { url: worker.otherUrl, headers: headersOf("ann") }, LEGACY);
    const bob = await connect(context, { url: worker.otherUrl, headers: headersOf("bob") });
    const session = await newSession(ann, "mine");
    await session.run("x = 'of Ann'");
    const same = await again.call("run_code", { session_id: "mine", code: "x" });
    assert.equal(same.structured.result, "'of Ann'");
    assert.equal((await bob.call("list_sessions")).structured.total, 0);
    assert.equal((await bob.call("run_code", { session_id: "mine", code: "x" })).structured.code, "SESSION_NOT_FOUND");
    await session.call("delete_session");
  });

  test("nobody becomes another by headers that the Worker sets", async (context) => {
    const ann = await connect(context, { url: worker.url, headers: headersOf("ann") });
    const session = await newSession(ann, "secret");
    const owner = await ownerOf(ann, "secret");
    const forged = encodeURIComponent(
      JSON.stringify({ principal: { owner, name: "ann", scopes: ["repl:read", "repl:run"] } }),
    );
    const smuggled = { "x-edge-repl-visitor": forged, "x-edge-repl-sweep": encodeURIComponent("{}") };
    const bob = await connect(context, { url: worker.url, headers: { ...headersOf("bob"), ...smuggled } });
    assert.equal((await bob.call("list_sessions")).structured.total, 0);
    const nobody = await fetch(worker.url, { method: "POST", headers: smuggled, body: "{}" });
    assert.equal(nobody.status, 401);
    await session.call("delete_session");
  });

  /** As the log of the Worker tells it. */
  async function ownerOf(client: ReplClient, session_id: string): Promise<string> {
    await client.call("get_history", { session_id });
    const line = await until(
      () =>
        worker
          .stderr()
          .split("\n")
          .find((text) => text.includes('"get_history"') && text.includes(session_id)),
      "the log to name the owner",
    );
    return (JSON.parse(line) as { owner: string }).owner;
  }
});

describe("an object that is evicted in the middle of a run", () => {
  let worker: Workerd;
  before(async () => {
    worker = await startWorkerd({ env: e2bSettings(standIn) });
  });
  after(() => worker.stop());
  const evict = async (): Promise<void> => {
    const response = await fetch(worker.url, { method: "POST", headers: { "x-test-evict": "1" } });
    assert.equal(response.status, 503);
    assert.match(await response.text(), /restarted while it served this call/);
  };

  for (const leg of [MODERN, LEGACY, SSE]) {
    test(`loses nothing but the reply in flight, and says so: ${leg.name}`, async (context) => {
      const client = await connect(context, { url: worker.url }, leg);
      const session = await newSession(client, `evicted-${leg.era}-${leg.transport.length}`);
      await session.run("kept = 'before'");
      const { reply } = await startLong(session);
      await evict();
      // Over HTTP+SSE nobody is left who knows which reply is waited for; the client opens a new stream by itself.
      if (leg === SSE) await until(() => isConnected(client), "the client to be connected again");
      else assert.match(String(await within(reply, 2_000, "the client to be told")), /restarted while .* get_history/);
      const next = await session.run("kept");
      assert.match(
        next.text,
        /^\[3\] kept\n'before'\n\(The server stopped while \[2\] ran: how far it ran is not known\)/,
      );
      const history = await session.call("get_history");
      assert.match(
        history.text,
        /\[2\] import time[\s\S]*\(The server stopped while this block ran: its output is lost/,
      );
      assert.deepEqual(
        (history.structured.blocks as { status: string; in_memory: boolean }[]).map((block) => block.status),
        ["ok", "interrupted", "ok"],
      );
      await session.call("delete_session");
    });
  }

  const isConnected = (client: ReplClient): Promise<boolean> =>
    client.call("list_sessions").then(
      () => true,
      () => false,
    );

  test("the whole process may be killed and started again", async (context) => {
    const client = await connect(context, { url: worker.url });
    const session = await newSession(client, "killed");
    await session.run("kept = 'before'");
    const { reply } = await startLong(session);
    await worker.restart();
    assert.ok((await reply) instanceof Error);
    const again = await connect(context, { url: worker.url });
    const next = await again.call("run_code", { session_id: "killed", code: "kept" });
    assert.match(next.text, /^\[3\] kept\n'before'\n\(The server stopped while \[2\] ran/);
    await again.call("delete_session", { session_id: "killed" });
  });

  test("what was sent to it is not run twice", async (context) => {
    const client = await connect(context, { url: worker.url }, LEGACY);
    const session = await newSession(client, "once");
    await session.run("count = 0");
    await evict();
    await session.run("count += 1");
    assert.equal((await session.run("count")).structured.result, "1");
    await session.call("delete_session");
  });
});

describe("a cancel", () => {
  let worker: Workerd;
  before(async () => {
    worker = await startWorkerd({ env: e2bSettings(standIn) });
  });
  after(() => worker.stop());

  test("as a request of its own, through another isolate, reaches the run", async (context) => {
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "mcp-protocol-version": "2025-11-25",
    };
    const post = (url: URL, body: object, more: Record<string, string> = {}) =>
      fetch(url, {
        method: "POST",
        headers: { ...headers, ...more },
        body: JSON.stringify({ jsonrpc: "2.0", ...body }),
      });
    const clientInfo = { name: "raw", version: "1" };
    const opened = await post(worker.url, {
      id: 0,
      method: "initialize",
      params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo },
    });
    await opened.text();
    const session = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" };
    const watcher = await connect(context, { url: worker.otherUrl });
    const watched = await newSession(watcher, "cancelled");
    const call = { name: "run_code", arguments: { session_id: "cancelled", code: "import time\ntime.sleep(60)" } };
    const running = post(worker.url, { id: 7, method: "tools/call", params: call }, session).then((r) => r.text());
    await until(async () => (await watched.call("get_history")).structured.total === 1, "the run to begin");
    const params = { requestId: 7 };
    assert.equal((await post(worker.otherUrl, { method: "notifications/cancelled", params }, session)).status, 202);
    assert.equal((await untilEnded(watched, 0, 5_000)).status, "cancelled");
    await running;
    await watched.call("delete_session");
  });
});

test("blocks move to a bucket, and are read from there when the object is gone", async (context) => {
  const worker = await startWorkerd({ env: { ...e2bSettings(standIn), TEST_BUCKET: "1" } });
  context.after(() => worker.stop());
  const session = await newSession(await connect(context, { url: worker.url }), "moved");
  for (const value of [1, 2, 3]) await session.run(`${value} * 10`);
  const keys = async (): Promise<string[]> =>
    (await fetch(new URL("/__bucket", worker.url))).json() as Promise<string[]>;
  await until(async () => (await keys()).length === 3, "three blocks to be in the bucket");
  await (await fetch(worker.url, { method: "POST", headers: { "x-test-evict": "1" } })).text();
  assert.match(
    (await session.call("get_history")).text,
    /^\[1\] 1 \* 10\n10\n\n\[2\] 2 \* 10\n20\n\n\[3\] 3 \* 10\n30/,
  );
  await session.call("delete_session");
  assert.deepEqual(await keys(), []);
});

test("the cron ends sandboxes that no session owns, and no others", async (context) => {
  const worker = await startWorkerd({ env: { ...e2bSettings(standIn), REPL_DEPLOYMENT: "swept" } });
  context.after(() => worker.stop());
  const client = await connect(context, { url: worker.url });
  const sessions = await Promise.all(["owned", "left"].map((id) => newSession(client, id)));
  for (const session of sessions) await session.run("x = 1");
  const [owned, left] = await Promise.all(
    sessions.map(async ({ id }) => [...standIn.sandboxes.values()].find(({ spec }) => spec.metadata.session === id)),
  );
  assert.ok(owned && left);
  // As if it had been made for a session whose record was never written.
  left.spec.metadata.session = "forgotten";
  for (const sandbox of [owned, left]) makeOlder(sandbox, 3600);
  const response = await fetch(new URL("/__scheduled", worker.url));
  assert.equal(response.status, 200, await response.text());
  await until(() => left.state === "gone", "the sandbox to be swept");
  assert.equal(owned.state, "running");
  assert.equal((await sessions[0]?.run("x"))?.structured.result, "1");
  for (const session of sessions) await session.call("delete_session");
});

function makeOlder(sandbox: { readonly startedAt: number }, seconds: number): void {
  Object.assign(sandbox, { startedAt: sandbox.startedAt - seconds * 1000 });
}

test("no sandbox is left", async () => {
  await until(() => standIn.sandboxes.size === 0, "all sandboxes to end");
});
