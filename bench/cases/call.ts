import { type Bench, type BenchContext, ms, ratioRow } from "../lib/bench.ts";
import type { McpClient } from "../lib/mcp-client.ts";
import { interleave, median, quantile, ratioOf, times } from "../lib/measure.ts";
import { connect, openSession, startFloor, startOurs } from "../lib/servers.ts";

const CALLS = 120;
const ROUNDS = 12;

/** One call after the other, as an agent makes them. */
export const call: Bench = {
  name: "call",
  about:
    "run_code('1+1') over Streamable HTTP, one call after the other, against a bare SDK tool that asks Python over a pipe",
  async run(context) {
    const floor = connect(context, (await startFloor(context)).url);
    const inFiles = await ourClient(context, `fs:${context.folder}/history`);
    const inMemory = await ourClient(context, "memory");
    const samples: Record<string, number[]> = {};
    const contestant = (name: string, count: number, task: () => Promise<unknown>) => async (): Promise<number> => {
      const round = await times(count, task);
      samples[name] = [...(samples[name] ?? []), ...round];
      return median(round);
    };
    const ours = { session_id: "s", code: "1+1" };
    const contestants = {
      noop: contestant("noop", CALLS, () => floor.call("noop", {})),
      pipe: contestant("pipe", CALLS, () => floor.call("pipe", {})),
      files: contestant("files", CALLS, () => inFiles.call("run_code", ours)),
      memory: contestant("memory", CALLS, () => inMemory.call("run_code", ours)),
    };
    await interleave(1, contestants);
    for (const name of Object.keys(samples)) samples[name] = [];
    const rounds = await interleave(ROUNDS, contestants);
    const p99 = (name: string): number => quantile(samples[name] ?? [], 0.99);
    const floorText = `${ms(median(rounds.pipe))} (no-op tool alone ${ms(median(rounds.noop))})`;
    const p50 = (name: "files" | "memory") => ratioOf(rounds[name], rounds.pipe);
    return [
      ratioRow(
        {
          what: "run_code p50, history in memory",
          floor: floorText,
          ours: ms(median(rounds.memory)),
          ratio: p50("memory"),
        },
        { most: 1.3 },
      ),
      ratioRow(
        {
          what: "run_code p50, history in files",
          floor: floorText,
          ours: ms(median(rounds.files)),
          ratio: p50("files"),
        },
        { most: 1.3 },
      ),
      ratioRow(
        {
          what: "run_code p99, history in files",
          floor: ms(p99("pipe")),
          ours: ms(p99("files")),
          ratio: p99("files") / p99("pipe"),
        },
        { most: 2 },
      ),
    ];
  },
};

async function ourClient(context: BenchContext, storage: string): Promise<McpClient> {
  const client = connect(context, (await startOurs(context, { REPL_STORAGE: storage })).url);
  await openSession(client, "s");
  return client;
}
