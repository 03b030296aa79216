import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, runToEnd } from "../helpers/process.ts";

/** The official conformance runner needs a newer Node than the one under test. */
const NODE = join(ROOT, "test/node_modules/node24/bin/node");

const LIMIT_MS = 60_000;

/** One run of the official runner: which release of it, and which of its scenarios. */
export type OfficialRun = {
  readonly runner: "stable" | "alpha";
  /** A frozen set of required scenarios; absent: all active ones of the release. */
  readonly requirements?: "2026-07-28" | "2025-11-25";
};

/** What one scenario found out: check id → passed. A check that is made more than once passes when it always does. */
export type ScenarioResult = { readonly scenario: string; readonly checks: ReadonlyMap<string, Outcome> };

export type Outcome = { readonly passed: boolean; readonly message: string };

/** As the runner writes it. `WARNING` is a broken SHOULD; `INFO` and `SKIPPED` are no verdicts. */
type OfficialCheck = {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "INFO" | "SKIPPED";
  readonly errorMessage?: string;
};

/** Runs the scenarios against the MCP endpoint `url`. @throws Error when the runner left no results. */
export async function runOfficial(run: OfficialRun, url: URL): Promise<ScenarioResult[]> {
  const output = await mkdtemp(join(tmpdir(), "conformance-"));
  try {
    const script = join(ROOT, `test/node_modules/conformance-${run.runner}/dist/index.js`);
    const chosen = run.requirements === undefined ? [] : ["--requirements", run.requirements];
    const command = [NODE, script, "server", "--url", url.href, ...chosen, "-o", output] as const;
    const { code, stdout, stderr } = await runToEnd([...command], { limitMs: LIMIT_MS });
    const folders = await readdir(output);
    if (folders.length === 0) throw new Error(`The conformance runner ended with ${code}: ${stdout}${stderr}`);
    return await Promise.all(folders.sort().map((folder) => readScenario(output, folder)));
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

/** The names of all scenarios by the heading that the runner lists them under, such as `Server scenarios`. */
export async function listOfficial(runner: OfficialRun["runner"]): Promise<ReadonlyMap<string, readonly string[]>> {
  const script = join(ROOT, `test/node_modules/conformance-${runner}/dist/index.js`);
  const { stdout } = await runToEnd([NODE, script, "list"], { limitMs: LIMIT_MS });
  const lists = new Map<string, string[]>();
  for (const line of stdout.split("\n")) {
    const heading = /^(\w[\w ]*) \(/.exec(line)?.[1];
    const name = /^ {2}- (\S+)/.exec(line)?.[1];
    if (heading !== undefined) lists.set(heading, []);
    else if (name !== undefined) [...lists.values()].at(-1)?.push(name);
  }
  return lists;
}

/** Folders are named `server-<scenario>-<time>`. */
async function readScenario(output: string, folder: string): Promise<ScenarioResult> {
  const scenario = folder.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, "");
  const text = await readFile(join(output, folder, "checks.json"), "utf8");
  const checks = new Map<string, Outcome>();
  for (const { id, status, errorMessage } of JSON.parse(text) as OfficialCheck[]) {
    if (status === "INFO" || status === "SKIPPED") continue;
    const passed = status === "SUCCESS";
    if (!passed || !checks.has(id)) checks.set(id, { passed, message: errorMessage ?? status });
  }
  return { scenario, checks };
}
