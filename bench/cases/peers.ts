import { type Bench, ms, type Row } from "../lib/bench.ts";
import { interleave, median, ratioOf, times } from "../lib/measure.ts";
import { type Peer, startPeers } from "../lib/peers.ts";
import { connect, openSession, startOurs } from "../lib/servers.ts";

const ROUNDS = 5;
const CALLS = 10;

/** The same call on other servers that run Python. */
export const peers: Bench = {
  name: "peers",
  about: "run_code('1+1') on other MCP servers that run Python, installed for this run, against ours",
  async run(context) {
    const ours = connect(context, (await startOurs(context, { REPL_STORAGE: `fs:${context.folder}/history` })).url);
    await openSession(ours, "s");
    const { ready, skipped } = await startPeers(context);
    const run = () => ours.call("run_code", { session_id: "s", code: "1+1" });
    const rounds = await interleave(ROUNDS, {
      ours: async () => median(await times(CALLS, run)),
      ...Object.fromEntries(ready.map((peer) => [peer.name, () => callsOf(peer)])),
    } as Record<string, () => Promise<number>>);
    const mine = rounds.ours ?? [];
    const others = ready.map(({ name }) => {
      const theirs = rounds[name] ?? [];
      return `${name} ${ms(median(theirs))} (${ratioOf(theirs, mine).toFixed(1)}× ours)`;
    });
    const row: Row = { what: "run_code p50 beside others", floor: "", ours: ms(median(mine)), budget: "" };
    return [{ ...row, peers: [...others, ...skipped].join("; ") }];
  },
};

async function callsOf({ slow, run }: Peer): Promise<number> {
  return median(await times(slow ? 1 : CALLS, run));
}
