import assert from "node:assert/strict";
import { until } from "../helpers/process.ts";
import { sessionOf, untilEnded } from "../http/check.ts";
import type { Leg, ReplClient, Target } from "../http/client.ts";
import { newSession, startLong } from "./setup.ts";

/** One line of the table: a server of some runtime, backend and store, through clients of the eras. */
export type Cell = {
  readonly runtime: string;
  readonly backend: string;
  readonly store: string;
  readonly leg: Leg;
};

export type Result = Cell & { readonly outcome: string };

/**
 * What must hold in each cell: state, text, a traceback, progress and a cancel that keeps variables. All cells of a server
 * share one session, which the first makes and the others find as it was left.
 */
export async function checkCell(client: ReplClient, id: string, first: boolean): Promise<void> {
  const session = first ? await newSession(client, id) : sessionOf(client, id);
  if (first) assert.equal((await session.run("x = 41")).text, "[1] x = 41");
  const { text, structured } = await session.run("x + 1");
  const at = Number(structured.index);
  assert.equal(text, `[${at + 1}] x + 1\n42`);
  const failed = await session.run("nowhere");
  assert.match(failed.text, /^\[\d+\] nowhere\nTraceback[\s\S]*NameError: name 'nowhere' is not defined$/);
  const controller = new AbortController();
  const { reply } = await startLong(session, controller.signal);
  controller.abort();
  assert.equal((await untilEnded(session, at + 2)).status, "cancelled");
  assert.equal((await session.run("x, mark")).text, `[${at + 4}] x, mark\n(41, 1)`);
  await reply;
}

/** After a restart: the history is there; a remote kernel too, a local one is gone and the first reply says so. */
export async function checkRestarted(client: ReplClient, id: string, kept: boolean, first: boolean): Promise<void> {
  const before = await client.call("get_history", { session_id: id, start: 1, end: 2 });
  assert.equal(before.text.split("\n\n(")[0], "[2] x + 1\n42");
  const { text } = await client.call("run_code", { session_id: id, code: first ? "x" : "'again'" });
  if (!first) assert.match(text, /^\[\d+\] 'again'\n'again'$/);
  else if (kept) assert.match(text, /^\[\d+\] x\n41$/);
  else assert.match(text, /NameError[\s\S]*\(Variables of earlier blocks are lost \(the server was restarted/);
}

export async function connectTo(leg: Leg, target: Target): Promise<ReplClient> {
  return until(() => leg.connect(target).catch(() => undefined), `a connection by a ${leg.name}`);
}

/** The matrix as a person reads it: a row per runtime, backend and store, a column per client. */
export function tableOf(results: readonly Result[]): string[] {
  const columns = [...new Set(results.map(({ leg }) => shortName(leg)))];
  const rows = new Map<string, Map<string, string>>();
  for (const { runtime, backend, store, leg, outcome } of results) {
    const key = [runtime.padEnd(8), backend.padEnd(10), store.padEnd(14)].join(" ");
    const row = rows.get(key) ?? new Map<string, string>();
    row.set(shortName(leg), outcome);
    rows.set(key, row);
  }
  const width = Math.max(...columns.map(({ length }) => length)) + 2;
  const line = (head: string, cells: readonly string[]): string =>
    `${head} ${cells.map((cell) => cell.padEnd(width)).join("")}`.trimEnd();
  const head = line(["runtime ", "backend   ", "store         "].join(" "), columns);
  return [
    head,
    ...[...rows].map(([key, row]) =>
      line(
        key,
        columns.map((column) => row.get(column) ?? "-"),
      ),
    ),
  ];
}

function shortName({ era, transport }: Leg): string {
  return `${era} ${transport === "Streamable HTTP" ? "http" : transport === "HTTP+SSE" ? "sse" : "stdio"}`;
}
