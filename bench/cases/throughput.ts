import { type Bench, perSecond, ratioRow } from "../lib/bench.ts";
import type { McpClient } from "../lib/mcp-client.ts";
import { interleave, median, ratioOf } from "../lib/measure.ts";
import { connect, openSession, startFloor, startOurs } from "../lib/servers.ts";

const SESSIONS = 50;
const SLICE_MS = 1500;
const ROUNDS = 5;

/** Fifty agents at once, each with a session of its own. */
export const throughput: Bench = {
  name: "throughput",
  about: `calls per second of ${SESSIONS} clients that call without pause, against a no-op tool of the bare SDK`,
  async run(context) {
    const { url } = await startFloor(context);
    const server = await startOurs(context, { REPL_STORAGE: "memory" });
    const sessions = Array.from({ length: SESSIONS }, (_, index) => `s${index}`);
    const floors = sessions.map(() => connect(context, url));
    const clients = sessions.map(() => connect(context, server.url));
    await Promise.all(clients.map((client, index) => openSession(client, sessions[index] ?? "")));
    const rounds = await interleave(ROUNDS, {
      floor: () => rateOf(floors, (client) => client.call("noop", {})),
      ours: () => rateOf(clients, (client, index) => client.call("run_code", { session_id: `s${index}`, code: "1+1" })),
    });
    const what = `calls per second over ${SESSIONS} sessions`;
    const numbers = { floor: perSecond(median(rounds.floor)), ours: perSecond(median(rounds.ours)) };
    return [ratioRow({ what, ...numbers, ratio: ratioOf(rounds.ours, rounds.floor) }, { least: 0.6 })];
  },
};

/** Calls per second that the clients together get done. */
async function rateOf(
  clients: readonly McpClient[],
  call: (client: McpClient, index: number) => Promise<unknown>,
): Promise<number> {
  const end = performance.now() + SLICE_MS;
  let calls = 0;
  const work = async (client: McpClient, index: number): Promise<void> => {
    while (performance.now() < end) {
      await call(client, index);
      calls += 1;
    }
  };
  const started = performance.now();
  await Promise.all(clients.map(work));
  return (calls / (performance.now() - started)) * 1000;
}
