import type { ServerProcess } from "../../test/helpers/server.ts";
import { type Bench, type BenchContext, mb, type Row } from "../lib/bench.ts";
import { legacyClient, type McpClient } from "../lib/mcp-client.ts";
import { descendants } from "../lib/process-memory.ts";
import { connect, type Memory, memoryOf, openSession, startOurs } from "../lib/servers.ts";

const SIZES = {
  usual: { calls: 3_000, sessions: 60 },
  full: { calls: 100_000, sessions: 10_000 },
};
/** Calls after which caches are as full as they get; the record of history goes on growing in a store in memory. */
const WARM_UP = 1_000;
const WORKERS = 4;
/** What the heap may differ by, which is not garbage but shapes and compiled code. */
const HEAP_BYTES = 3 * 2 ** 20;

/** What stays behind. */
export const leaks: Bench = {
  name: "leaks",
  about:
    "heap, descriptors, processes and timers of the server after many calls and sessions, against after 1,000 calls",
  async run(context) {
    const { calls, sessions } = context.full ? SIZES.full : SIZES.usual;
    const server = await startOurs(context, { REPL_STORAGE: `fs:${context.folder}/history`, REPL_LOG: "off" });
    const clients = await clientsOf(context, server);
    await Promise.all(clients.map((client, index) => openSession(client, `s${index}`)));
    await share(clients, WARM_UP, (client, index) => client.call("run_code", { session_id: `s${index}`, code: "1+1" }));
    await share(clients, WORKERS, makeAndDelete);
    const before = await holdings(server);
    await share(clients, calls, (client, index) => client.call("run_code", { session_id: `s${index}`, code: "1+1" }));
    await share(clients, sessions, makeAndDelete);
    const after = await holdings(server);
    const what = `after ${calls.toLocaleString("en-US")} calls and ${sessions.toLocaleString("en-US")} sessions`;
    return rowsOf(what, before, after);
  },
};

type Holdings = Memory & { readonly processes: number };

async function holdings(server: ServerProcess): Promise<Holdings> {
  const memory = await memoryOf(server);
  return { ...memory, processes: descendants(server.pid).length };
}

function rowsOf(what: string, before: Holdings, after: Holdings): Row[] {
  const heap = { what: `heap ${what}`, floor: mb(before.heapUsed), ours: mb(after.heapUsed) };
  const grown = after.heapUsed - before.heapUsed;
  const counts = (of: Holdings): string =>
    `${of.descriptors} descriptors, ${of.processes} processes, ${of.timers} timers`;
  const same = counts(before) === counts(after);
  return [
    { ...heap, budget: "flat", met: grown <= HEAP_BYTES },
    { what: `handles ${what}`, floor: counts(before), ours: counts(after), budget: "the same", met: same },
  ];
}

/** Half of them of 2025, which have sessions of their own. */
async function clientsOf(context: BenchContext, { url }: ServerProcess): Promise<McpClient[]> {
  const legacy = await Promise.all(Array.from({ length: WORKERS / 2 }, () => legacyClient(url)));
  for (const client of legacy) context.defer(() => client.close());
  return [...legacy, ...Array.from({ length: WORKERS / 2 }, () => connect(context, url))];
}

let made = 0;

async function makeAndDelete(client: McpClient): Promise<void> {
  made += 1;
  const session_id = `made${made}`;
  await openSession(client, session_id);
  const { isError } = await client.call("delete_session", { session_id });
  if (isError) throw new Error(`The session ${session_id} was not deleted`);
}

/** Does `task` so often, each client its share, one after the other. */
async function share(
  clients: readonly McpClient[],
  count: number,
  task: (client: McpClient, index: number) => Promise<unknown>,
): Promise<void> {
  const work = async (client: McpClient, index: number): Promise<void> => {
    for (let done = index; done < count; done += clients.length) await task(client, index);
  };
  await Promise.all(clients.map(work));
}
