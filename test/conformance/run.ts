import { startServer } from "../helpers/server.ts";
import baseline from "./baseline.json" with { type: "json" };
import { compare, type Verdict } from "./baseline.ts";
import { startFixtureServer } from "./fixture-server.ts";
import { type OfficialRun, runOfficial } from "./official.ts";

/**
 * The official conformance runner, stable and alpha, against the real server and against the fixtures on the same app.
 * As a program it prints a line per run and fails when a run does not match `baseline.json`. Servers of other runtimes are
 * named by `CONFORMANCE_SERVER_URL` and `CONFORMANCE_FIXTURES_URL`.
 */

type Subject = "server" | "fixtures";

export type ConformanceRun = OfficialRun & {
  readonly name: string;
  readonly subject: Subject;
  /** Scenarios that the release of the runner makes; fewer would mean that it did not do its work. */
  readonly scenarios: number;
};

const SETS: readonly (OfficialRun & { readonly scenarios: number })[] = [
  { runner: "alpha", requirements: "2026-07-28", scenarios: 50 },
  { runner: "alpha", requirements: "2025-11-25", scenarios: 33 },
  { runner: "stable", scenarios: 30 },
];

export const RUNS: readonly ConformanceRun[] = SETS.flatMap((set) =>
  (["server", "fixtures"] as const).map((subject) => ({
    ...set,
    subject,
    name: `${subject} ${set.runner}${set.requirements ? ` ${set.requirements}` : ""}`,
  })),
);

export type Subjects = { readonly urls: Readonly<Record<Subject, URL>>; close(): Promise<void> };

/** Starts what no environment variable names. */
export async function startSubjects(): Promise<Subjects> {
  const named = { server: process.env.CONFORMANCE_SERVER_URL, fixtures: process.env.CONFORMANCE_FIXTURES_URL };
  const server = named.server === undefined ? await startServer({ REPL_LOG: "off" }) : undefined;
  const fixtures = named.fixtures === undefined ? await startFixtureServer() : undefined;
  return {
    urls: {
      server: server?.url ?? new URL(named.server as string),
      fixtures: fixtures?.url ?? new URL(named.fixtures as string),
    },
    async close() {
      await Promise.all([server?.stop(), fixtures?.close()]);
    },
  };
}

/** @throws Error when the runner made another number of scenarios than its release has. */
export async function runAndCompare(run: ConformanceRun, url: URL): Promise<Verdict> {
  const results = await runOfficial(run, url);
  if (results.length !== run.scenarios) {
    throw new Error(`${run.name}: ${results.length} scenarios were run, not ${run.scenarios}`);
  }
  return compare(run.name, results, baseline);
}

/** One line for a reader. */
export function summary(name: string, { passed, expected, unexpected, stale }: Verdict): string {
  return `${name}: ${passed} passed, ${expected} failed as listed, ${unexpected.length} unexpected, ${stale.length} stale`;
}

async function main(): Promise<number> {
  const subjects = await startSubjects();
  let status = 0;
  try {
    for (const run of RUNS) {
      const verdict = await runAndCompare(run, subjects.urls[run.subject]);
      console.log(summary(run.name, verdict));
      for (const line of verdict.unexpected) console.log(`  unexpected  ${line}`);
      for (const line of verdict.stale) console.log(`  stale       ${line}`);
      if (verdict.unexpected.length + verdict.stale.length > 0) status = 1;
    }
  } finally {
    await subjects.close();
  }
  return status;
}

if (import.meta.url === new URL(process.argv[1] ?? "", "file://").href) process.exitCode = await main();
