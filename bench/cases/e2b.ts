import { amountRow, type Bench, type BenchContext, ms, ratioRow } from "../lib/bench.ts";
import { runCell, startE2bKernel } from "../lib/kernels.ts";
import type { McpClient } from "../lib/mcp-client.ts";
import { interleave, median, ratioOf, times } from "../lib/measure.ts";
import { connect, openSession, startFloor, startOurs } from "../lib/servers.ts";
import { bareExecute, bareSandbox, requestsSince, type StandInProcess, startStandIn } from "../lib/stand-in.ts";

const CALLS = 30;
const ROUNDS = 11;

/** A run in a sandbox that lives, on a stand-in without the network's time. */
export const e2b: Bench = {
  name: "e2b",
  about: "a run in a live E2B sandbox (a local stand-in), against one bare fetch of /execute",
  async run(context) {
    const standIn = await startStandIn(context);
    const sandbox = await bareSandbox(standIn);
    const kernel = await startE2bKernel(context, standIn);
    const client = await ourClient(context, standIn);
    const floor = connect(context, (await startFloor(context)).url);
    let number = 0;
    const each = (task: () => Promise<unknown>) => async (): Promise<number> => median(await times(CALLS, task));
    const contestants = {
      bare: each(() => bareExecute(sandbox, "1+1")),
      backend: each(() => runCell(kernel, "1+1", number++)),
      noop: each(() => floor.call("noop", {})),
      call: each(() => runCode(client)),
    };
    await interleave(1, contestants);
    const rounds = await interleave(ROUNDS, contestants);
    const sum = rounds.bare.map((value, round) => value + (rounds.noop[round] ?? 0));
    await requestsSince(standIn);
    await runCode(client);
    const requests = await requestsSince(standIn);
    return [
      ratioRow(
        {
          what: "E2B: a run by the backend",
          floor: ms(median(rounds.bare)),
          ours: ms(median(rounds.backend)),
          ratio: ratioOf(rounds.backend, rounds.bare),
        },
        { most: 1.2 },
      ),
      ratioRow(
        {
          what: "E2B: run_code over HTTP, history in files",
          floor: `${ms(median(sum))} (fetch and no-op tool)`,
          ours: ms(median(rounds.call)),
          ratio: ratioOf(rounds.call, sum),
        },
        { most: 1.3 },
      ),
      amountRow({ what: "E2B: requests of a run", floor: "1", ours: String(requests) }, requests, 1, "request"),
    ];
  },
};

async function ourClient(context: BenchContext, { apiKey, apiUrl, sandboxUrl }: StandInProcess): Promise<McpClient> {
  const env = { REPL_BACKEND: "e2b", E2B_API_KEY: apiKey, E2B_API_URL: apiUrl, E2B_SANDBOX_URL: sandboxUrl };
  const server = await startOurs(context, { ...env, REPL_STORAGE: `fs:${context.folder}/history` });
  const client = connect(context, server.url);
  await openSession(client, "s");
  context.defer(() => client.call("delete_session", { session_id: "s" }));
  return client;
}

async function runCode(client: McpClient): Promise<void> {
  const { structuredContent } = await client.call("run_code", { session_id: "s", code: "1+1" });
  if (structuredContent?.result !== "2") throw new Error(`The run brought ${JSON.stringify(structuredContent)}`);
}
