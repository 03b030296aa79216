import { gzipSync } from "node:zlib";
import { transform } from "esbuild";
import { bundleWorker, startWorkerd, type Workerd } from "../../test/runtimes/workerd.ts";
import { amountRow, type Bench, type BenchContext, ms, type Row, ratioRow, us } from "../lib/bench.ts";
import { interleave, median, ratioOf, timed, times } from "../lib/measure.ts";
import { cpuTime } from "../lib/process-memory.ts";
import { connect, openSession } from "../lib/servers.ts";
import { startStandIn } from "../lib/stand-in.ts";

const OURS = "adapters/cloudflare.ts";
const FLOOR = "bench/floors/sdk-worker.ts";
const EMPTY = "bench/floors/empty-worker.ts";
const STARTS = 7;
const CALLS = 100;
const ROUNDS = 7;

/** The Worker in workerd, Cloudflare's runtime. */
export const worker: Bench = {
  name: "worker",
  about:
    "the Worker in workerd: size, start to first tools/list, processor time of a run_code, against a bare SDK Worker",
  async run(context) {
    const standIn = await startStandIn(context);
    const { apiKey, apiUrl, sandboxUrl } = standIn;
    const env = {
      REPL_AUTH: "none",
      REPL_LOG: "off",
      E2B_API_KEY: apiKey,
      E2B_API_URL: apiUrl,
      E2B_SANDBOX_URL: sandboxUrl,
    };
    return [await sizeRow(), await startRow(context, env), await processorRow(context, env)];
  },
};

async function sizeRow(): Promise<Row> {
  const [ours = 0, floor, empty] = await Promise.all([OURS, FLOOR, EMPTY].map(kilobytesOf));
  const texts = { floor: `${empty} KB empty Hono, ${floor} KB bare SDK`, ours: `${ours} KB` };
  return amountRow({ what: "Worker: size, gzip", ...texts }, ours, 300, "KB");
}

/** Minified, as it is deployed. */
async function kilobytesOf(entry: string): Promise<number> {
  const { code } = await transform(await bundleWorker(entry), { minify: true, format: "esm", target: "es2022" });
  return Math.round(gzipSync(code).length / 1024);
}

type Env = Readonly<Record<string, string>>;

async function startRow(context: BenchContext, env: Env): Promise<Row> {
  const start = (entry: string) => async (): Promise<number> => {
    let started: Workerd | undefined;
    const taken = await timed(async () => {
      started = await startWorkerd({ entry, env });
      const client = connect(context, started.url);
      await client.send("tools/list");
      client.close();
    });
    await started?.stop();
    return taken;
  };
  const rounds = await interleave(STARTS, { floor: start(FLOOR), ours: start(OURS) });
  const numbers = { floor: ms(median(rounds.floor)), ours: ms(median(rounds.ours)) };
  const what = "Worker: start to first tools/list";
  return ratioRow({ what, ...numbers, ratio: ratioOf(rounds.ours, rounds.floor) }, { most: 1.5 });
}

async function processorRow(context: BenchContext, env: Env): Promise<Row> {
  const [bare, full] = await Promise.all([startWorkerd({ entry: FLOOR, env }), startWorkerd({ entry: OURS, env })]);
  context.defer(() => Promise.all([bare.stop(), full.stop()]));
  const [floor, client] = [connect(context, bare.url), connect(context, full.url)];
  await openSession(client, "s");
  context.defer(() => client.call("delete_session", { session_id: "s" }));
  const spent = (pid: number, task: () => Promise<unknown>) => async (): Promise<number> => {
    const before = cpuTime(pid);
    await times(CALLS, task);
    return (cpuTime(pid) - before) / CALLS / 1e6;
  };
  const contestants = {
    floor: spent(bare.pid, () => floor.call("noop", {})),
    ours: spent(full.pid, () => client.call("run_code", { session_id: "s", code: "1+1" })),
  };
  await interleave(1, contestants);
  const rounds = await interleave(ROUNDS, contestants);
  const numbers = { floor: us(median(rounds.floor)), ours: us(median(rounds.ours)) };
  const what = "Worker: processor time of a run_code";
  return ratioRow({ what, ...numbers, ratio: ratioOf(rounds.ours, rounds.floor) }, { most: 2 });
}
