import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { startServer } from "../helpers/server.ts";
import { type HttpClient, httpClient } from "./http-client.ts";

/** What one owner noticed while another sent all that it could. Times in milliseconds. */
export type Abuse = {
  /** Of the quiet owner, alone and beside the other; all its calls have to succeed. */
  readonly quiet: Times;
  readonly beside: Times;
  /** Answers to the other, by their status. */
  readonly statuses: Readonly<Record<string, number>>;
};

export type Times = { readonly calls: number; readonly failed: number; readonly p50: number; readonly p99: number };

const QUIET_CALLS = 100;
/** A person or an agent at work, not a second load. */
const PAUSE_MS = 100;

/** Runs a real server with two owners, one of whom sends `requests` requests, `parallel` at a time. */
export async function measureAbuse(requests: number, parallel: number): Promise<Abuse> {
  const tokens = { quiet: newToken(), loud: newToken() };
  const entries = await Promise.all(
    Object.entries(tokens).map(async ([name, token]) => `${name}:${toHex(await sha256(token))}`),
  );
  const server = await startServer({ REPL_AUTH: "token", REPL_TOKENS: entries.join(" "), REPL_LOG: "off" });
  try {
    const client = httpClient(server.url, { authorization: `Bearer ${tokens.quiet}` });
    await client.tool("create_session", { session_id: "mine" });
    await work(client, 10, () => false);
    // The loud owner is a process of its own, as in life: its work must not count as the server's, nor must its start.
    const script = fileURLToPath(new URL("./abuse-loud.ts", import.meta.url));
    const loud = fork(script, [server.url.href, tokens.loud, String(requests), String(parallel)]);
    await once(loud, "message");
    const quiet = await work(client, QUIET_CALLS, () => false);
    const ended = once(loud, "message");
    loud.send("go");
    let over = false;
    const beside = work(client, Number.POSITIVE_INFINITY, () => over);
    const [statuses] = await ended;
    over = true;
    return { quiet, beside: await beside, statuses };
  } finally {
    await server.stop();
  }
}

/** Calls until `calls` are made or `over` says so. */
async function work(client: HttpClient, calls: number, over: () => boolean): Promise<Times> {
  const times: number[] = [];
  let failed = 0;
  while (times.length < calls && !over()) {
    const from = performance.now();
    const { status, isError } = await client.tool("run_code", { session_id: "mine", code: "6 * 7" });
    times.push(performance.now() - from);
    if (status !== 200 || isError) failed += 1;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  times.sort((a, b) => a - b);
  const at = (share: number): number => Math.round((times[Math.floor(times.length * share)] ?? 0) * 10) / 10;
  return { calls: times.length, failed, p50: at(0.5), p99: at(0.99) };
}
