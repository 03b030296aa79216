import { parseArgs } from "node:util";
import { type StandIn, startStandIn } from "../e2b/stand-in.ts";
import { until } from "../helpers/process.ts";
import type { ReplClient, ToolReply } from "../http/client.ts";
import { e2bSettings, MODERN, newSession } from "./setup.ts";
import { startWorkerd, type Workerd } from "./workerd.ts";

/**
 * Many runs over many sessions of a Worker, while sandboxes are killed, the object is evicted, its storage fails and the
 * cloud stumbles, all at random. As a program it prints a report and fails when a promise was broken:
 * `node --import tsx test/runtimes/soak.ts [--runs 1000] [--sessions 50] [--seed 1]`.
 */

export type SoakOptions = { readonly runs: number; readonly sessions: number; readonly seed: number };

export type SoakReport = {
  readonly runs: number;
  /** Runs that were answered and stored, as their replies say. */
  acknowledged: number;
  /** Answered, but told not to be stored. */
  unsaved: number;
  /** Told to have failed, so that nothing was promised. */
  failed: number;
  /** Replies that said that variables were lost. */
  lost: number;
  sandboxesKilled: number;
  evictions: number;
  storeFaults: number;
  cloudFaults: number;
  /** Sandboxes that no session owned at the end, and that the sweep ended. */
  swept: number;
  /** What must not happen. */
  readonly broken: string[];
};

/** Calls at the same time, each on a session of its own. */
const WORKERS = 6;
/** About every so many runs something goes wrong. */
const CALM = 6;

/** A pseudo-random number generator (mulberry32), so that a seed tells which faults are made; their timing differs. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

type Soak = {
  readonly worker: Workerd;
  readonly standIn: StandIn;
  readonly random: () => number;
  readonly report: SoakReport;
  readonly sessions: Map<string, Session>;
};

type Session = {
  /** Marks whose runs were acknowledged, with the position they had. */
  readonly marks: Map<string, number>;
  /** Marks that surely are in memory. */
  memory: Set<string>;
  /** Did a call fail since the last reply? Then what its reply would have said is in the history. */
  doubt: boolean;
  busy: boolean;
};

/** Runs it all and checks what was promised. */
export async function soak(options: SoakOptions): Promise<SoakReport> {
  const standIn = await startStandIn({ maxConcurrent: options.sessions + 50 });
  const worker = await startWorkerd({
    env: { ...e2bSettings(standIn), REPL_LOG: "off", REPL_MAX_SESSIONS: "1000", REPL_DEPLOYMENT: "soak" },
  });
  const report: SoakReport = { ...EMPTY, runs: options.runs, broken: [] };
  const run: Soak = { worker, standIn, random: randomOf(options.seed), report, sessions: new Map() };
  try {
    const clients = await Promise.all(Array.from({ length: WORKERS }, () => MODERN.connect({ url: worker.url })));
    const [first] = clients;
    if (!first) throw new Error("There is no client");
    for (let n = 0; n < options.sessions; n += 1) {
      await newSession(first, `soak-${n}`);
      run.sessions.set(`soak-${n}`, { marks: new Map(), memory: new Set(), doubt: false, busy: false });
    }
    let left = options.runs;
    const work = async (client: ReplClient): Promise<void> => {
      while (left > 0) {
        left -= 1;
        if (run.random() < 1 / CALM) await disturb(run);
        await runOne(run, client, `m${left}`);
      }
    };
    await Promise.all(clients.map(work));
    await order(worker, "x-test-store-faults", "0");
    for (const id of run.sessions.keys()) await checkHistory(run, first, id);
    await checkNothingIsLeft(run, first);
    await Promise.all(clients.map((client) => client.close()));
  } finally {
    await worker.stop();
    await standIn.close();
  }
  return report;
}

const EMPTY = {
  acknowledged: 0,
  unsaved: 0,
  failed: 0,
  lost: 0,
  sandboxesKilled: 0,
  evictions: 0,
  storeFaults: 0,
  cloudFaults: 0,
  swept: 0,
};

/** One run on a session that nobody else uses at the moment. */
async function runOne({ sessions, random, report }: Soak, client: ReplClient, mark: string): Promise<void> {
  const free = [...sessions].filter(([, { busy }]) => !busy);
  const [id, session] = free[Math.floor(random() * free.length)] ?? [];
  if (id === undefined || session === undefined) return;
  session.busy = true;
  const code = `marks = globals().setdefault("marks", []); marks.append("${mark}"); print(*marks)`;
  try {
    const reply = await client.call("run_code", { session_id: id, code, timeout: 30 });
    const gone = note(report, session, mark, reply);
    if (gone.length > 0 && !(session.doubt && (await historyTells(client, id)))) {
      report.broken.push(`${id}: ${mark} does not say that ${gone} are gone: ${reply.text}`);
    }
    session.doubt = reply.isError;
  } catch {
    // The object was evicted, which the client was told; the run may have been made or not.
    report.failed += 1;
    session.doubt = true;
  } finally {
    session.busy = false;
  }
}

const LOST = /Variables of earlier blocks are lost|variables are lost/;

/** @returns Marks that are gone from memory without a word about it. */
function note(report: SoakReport, session: Session, mark: string, { structured, text }: ToolReply): string[] {
  const told = LOST.test(text);
  if (structured.code !== undefined || structured.status !== "ok") {
    report.failed += 1;
    if (told) session.memory = new Set();
    return [];
  }
  const memory = new Set(String(structured.stdout).trim().split(" "));
  const gone = [...session.memory].filter((known) => !memory.has(known));
  if (told) report.lost += 1;
  session.memory = memory;
  if (structured.saved === false) report.unsaved += 1;
  else {
    report.acknowledged += 1;
    session.marks.set(mark, Number(structured.index));
  }
  return told ? [] : gone;
}

/** Does one of the last blocks say it, whose own reply did not arrive? */
async function historyTells(client: ReplClient, id: string): Promise<boolean> {
  const { text } = await client.call("get_history", { session_id: id, start: -4 });
  return LOST.test(text);
}

async function disturb({ worker, standIn, random, report }: Soak): Promise<void> {
  const kind = random();
  if (kind < 0.4) {
    const sandboxes = [...standIn.sandboxes.values()];
    const sandbox = sandboxes[Math.floor(random() * sandboxes.length)];
    if (sandbox) report.sandboxesKilled += 1;
    sandbox?.kill();
  } else if (kind < 0.6) {
    report.evictions += 1;
    await order(worker, "x-test-evict", "1");
  } else if (kind < 0.8) {
    report.storeFaults += 1;
    await order(worker, "x-test-store-faults", String(1 + Math.floor(random() * 3)));
  } else {
    report.cloudFaults += 1;
    const faults = [
      { status: 503 },
      { reset: true },
      { cutAfterBytes: 40 },
      { status: 429, headers: { "retry-after": "1" } },
    ];
    standIn.fault({ plane: random() < 0.5 ? "control" : "data", ...faults[Math.floor(random() * faults.length)] });
  }
}

async function order(worker: Workerd, header: string, value: string): Promise<void> {
  const response = await fetch(worker.url, { method: "POST", headers: { [header]: value } });
  await response.text();
}

/** Every acknowledged run is in the history, once, as it was acknowledged, and nothing is left as running. */
async function checkHistory({ sessions, report }: Soak, client: ReplClient, id: string): Promise<void> {
  const { text = "" } = await client.read(`repl://sessions/${id}/history.json`);
  const { blocks } = JSON.parse(text) as { blocks: { index: number; code: string; status: string }[] };
  for (const [mark, index] of sessions.get(id)?.marks ?? []) {
    const found = blocks.filter(({ code }) => code.includes(`"${mark}"`));
    const [block] = found;
    if (found.length !== 1 || block?.index !== index || block.status !== "ok") {
      report.broken.push(`${id}: ${mark} was acknowledged at ${index}, but is ${JSON.stringify(found)}`);
    }
  }
  for (const { index, status } of blocks) {
    if (status === "running") report.broken.push(`${id}: block ${index} is left as running`);
  }
}

/** Deleted sessions take their sandboxes along; what an eviction orphaned is the sweep's. */
async function checkNothingIsLeft(run: Soak, client: ReplClient): Promise<void> {
  const { standIn, worker, report, sessions } = run;
  for (const session_id of sessions.keys()) {
    const { isError, text } = await client.call("delete_session", { session_id });
    if (isError) report.broken.push(`${session_id} was not deleted: ${text}`);
  }
  for (const sandbox of standIn.sandboxes.values())
    Object.assign(sandbox, { startedAt: sandbox.startedAt - 3_600_000 });
  report.swept = standIn.sandboxes.size;
  await fetch(new URL("/__scheduled", worker.url));
  await until(() => standIn.sandboxes.size === 0, "the last sandbox to end").catch(() => {
    report.broken.push(`${standIn.sandboxes.size} sandboxes are left`);
  });
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runs: { type: "string", default: "1000" },
      sessions: { type: "string", default: "50" },
      seed: { type: "string", default: "1" },
    },
  });
  const started = performance.now();
  const { broken, ...counts } = await soak({
    runs: Number(values.runs),
    sessions: Number(values.sessions),
    seed: Number(values.seed),
  });
  console.log(JSON.stringify({ ...counts, seconds: Math.round((performance.now() - started) / 1000) }, null, 2));
  for (const line of broken) console.log(`broken: ${line}`);
  return broken.length === 0 ? 0 : 1;
}

if (import.meta.url === new URL(process.argv[1] ?? "", "file://").href) process.exitCode = await main();
