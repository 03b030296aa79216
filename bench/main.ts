import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg, release, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findPython } from "../src/backends/subprocess/find-python.ts";
import { within } from "../test/helpers/process.ts";
import { BENCHES } from "./cases/index.ts";
import type { Bench, BenchContext, Row } from "./lib/bench.ts";
import { tableOf } from "./lib/table.ts";

const USAGE = `npm run bench [-- [--full] [--no-peers] [--out FILE] [NAME …]]

  --full       the sizes of the budget table: minutes instead of seconds
  --no-peers   measures no other servers
  --out FILE   writes the table there too

${BENCHES.map(({ name, about }) => `  ${name.padEnd(12)} ${about}`).join("\n")}
`;

/** A bench that hangs ends here. */
const LIMIT_MS = { usual: 180_000, full: 3_600_000 };

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    full: { type: "boolean", default: false },
    "no-peers": { type: "boolean", default: false },
    out: { type: "string" },
    help: { type: "boolean", short: "h", default: false },
  },
});

async function measure(bench: Bench, base: Omit<BenchContext, "folder" | "defer">): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), `bench-${bench.name}-`));
  const tasks: (() => unknown)[] = [() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 })];
  const started = performance.now();
  try {
    const context = { ...base, folder, defer: (task: () => unknown) => tasks.push(task) };
    return await within(bench.run(context), base.full ? LIMIT_MS.full : LIMIT_MS.usual, bench.name);
  } finally {
    for (const task of tasks.reverse()) await task();
    base.note(`${bench.name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  }
}

/** The others are measured all the same. */
function failed({ name }: Bench, error: unknown): Row[] {
  process.exitCode = 1;
  process.stderr.write(`${name}: ${error instanceof Error ? error.stack : String(error)}\n`);
  return [{ what: name, floor: "", ours: "failed, see above", budget: "", met: false }];
}

function machine(python: string): string {
  const cores = `${availableParallelism()} cores of ${cpus()[0]?.model ?? "an unknown processor"}`;
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`;
  const load = loadavg()[0]?.toFixed(1);
  const date = new Date().toISOString().slice(0, 16).replace("T", " ");
  return `${date} UTC; ${cores}, ${memory}, Linux ${release()}; Node ${process.version}, Python ${python}; load before: ${load}`;
}

async function main(): Promise<void> {
  const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
  if (values.help || unknown.length > 0) {
    process.stderr.write(unknown.length > 0 ? `Unknown bench ${unknown.join(", ")}\n\n${USAGE}` : USAGE);
    process.exit(values.help ? 0 : 2);
  }
  const { executable: python, version } = await findPython(process.env);
  const note = (text: string): void => void process.stderr.write(`${text}\n`);
  const dist = process.env.BENCH_DIST;
  if (dist === undefined) throw new Error("Start it with npm run bench, which builds what is measured");
  const base = { dist, python, full: values.full, withPeers: !values["no-peers"], note };
  const head = machine(version);
  const rows: Row[] = [];
  for (const bench of BENCHES.filter(({ name }) => positionals.length === 0 || positionals.includes(name))) {
    rows.push(...(await measure(bench, base).catch((error: unknown) => failed(bench, error))));
  }
  const text = `${head}\n\n${tableOf(rows)}\n`;
  process.stdout.write(text);
  if (values.out !== undefined) writeFileSync(values.out, text);
}

await main();
process.exit();
