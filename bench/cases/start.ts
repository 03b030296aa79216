import { spawn } from "node:child_process";
import { once } from "node:events";
import { until } from "../../test/helpers/process.ts";
import { type Bench, type BenchContext, ms, ratioRow } from "../lib/bench.ts";
import type { McpClient } from "../lib/mcp-client.ts";
import { interleave, median, ratioOf, timed } from "../lib/measure.ts";
import { descendants } from "../lib/process-memory.ts";
import { connect, openSession, startOurs } from "../lib/servers.ts";

const ROUNDS = 25;

/** How long a new session takes until it has its first result. */
export const start: Bench = {
  name: "start",
  about: "create_session to the first result of run_code, against an interpreter that starts and ends",
  async run(context) {
    const cold = connect(context, (await startOurs(context, { REPL_STORAGE: "memory" })).url);
    const warmServer = await startOurs(context, { REPL_STORAGE: "memory", REPL_WARM_KERNELS: "1" });
    const warm = connect(context, warmServer.url);
    await openSession(cold, "first"); // Writes bytecode once.
    await openSession(warm, "first");
    let round = 0;
    const spare = (): boolean => descendants(warmServer.pid).length === 4; // The first session's two processes, and the spare's.
    const rounds = await interleave(ROUNDS, {
      floor: () => timed(() => runPython(context)),
      cold: () => firstResult(cold, `cold${round++}`),
      async warm() {
        await until(spare, "a spare kernel");
        return firstResult(warm, `warm${round++}`);
      },
    });
    const floor = ms(median(rounds.floor));
    const row = (what: string, name: "cold" | "warm") =>
      ratioRow(
        { what, floor, ours: ms(median(rounds[name])), ratio: ratioOf(rounds[name], rounds.floor) },
        { most: 1.3 },
      );
    return [row("create_session to first result", "cold"), row("the same with REPL_WARM_KERNELS=1", "warm")];
  },
};

async function firstResult(client: McpClient, id: string): Promise<number> {
  const taken = await timed(() => openSession(client, id));
  await client.call("delete_session", { session_id: id });
  return taken;
}

async function runPython({ python }: BenchContext): Promise<void> {
  await once(spawn(python, ["-I", "-c", "pass"], { stdio: "ignore" }), "exit");
}
