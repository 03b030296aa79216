import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { cleanEnvironment, start, until, within } from "../../test/helpers/process.ts";
import { type Bench, type BenchContext, ms, ratioRow } from "../lib/bench.ts";
import { type McpClient, modernClient } from "../lib/mcp-client.ts";
import { interleave, median, quantile, timed } from "../lib/measure.ts";
import { openSession, startOurs } from "../lib/servers.ts";

const REQUESTS = 10_000;
const ROUNDS = 5;
const LANES = 64;
/** Four at work give samples enough; each alone stays below the limit of requests per minute. */
const QUIET = ["anna", "ben", "carl", "dora"];
const PAUSE_MS = 120;
const QUIET_MS = 5000;
/** What the loud one left running is ended, and is not measured. */
const SETTLE_MS = 1500;
const LOUD_LIMIT_MS = 100_000;

type Answers = Record<string, number>;

/** What an owner notices of another one who sends all that it can. */
export const abuse: Bench = {
  name: "abuse",
  about: `run_code('1+1') at a steady pace while another owner sends ${REQUESTS.toLocaleString("en-US")} requests of all kinds`,
  async run(context) {
    const { server, clients, token } = await open(context);
    const samples = { quiet: [] as number[], loud: [] as number[] };
    const answers: Answers = {};
    const measure = async (name: "quiet" | "loud", until: Promise<unknown>): Promise<number> => {
      const round = await work(clients, until);
      samples[name].push(...round);
      return median(round);
    };
    await work(clients, pause(QUIET_MS));
    const contestants = {
      quiet: () => measure("quiet", pause(QUIET_MS)),
      loud: async () => {
        const loud = await startLoud(context, server, token);
        const middle = await measure("loud", loud.run(answers));
        await pause(SETTLE_MS);
        return middle;
      },
    };
    await interleave(ROUNDS, contestants);
    context.note(`abuse: ${samples.loud.length} calls beside answers ${JSON.stringify(answers)}`);
    return [0.5, 0.99].map((q) => rowOf(samples, q));
  },
};

function rowOf({ quiet, loud }: { readonly quiet: number[]; readonly loud: number[] }, q: number) {
  const [floor, ours] = [quantile(quiet, q), quantile(loud, q)];
  const what = `run_code p${q * 100} beside an owner who floods, history in files`;
  return ratioRow({ what, floor: `${ms(floor)} (without)`, ours: ms(ours), ratio: ours / floor }, { most: 2 });
}

async function open(context: BenchContext): Promise<{ server: URL; clients: McpClient[]; token: string }> {
  const tokens = new Map(["loud", ...QUIET].map((name) => [name, newToken()]));
  const entries = await Promise.all([...tokens].map(async ([name, token]) => `${name}:${toHex(await sha256(token))}`));
  const settings = { REPL_AUTH: "token", REPL_TOKENS: entries.join(" "), REPL_STORAGE: `fs:${context.folder}/history` };
  const { url } = await startOurs(context, settings);
  const clients = QUIET.map((name) => modernClient(url, { headers: { authorization: `Bearer ${tokens.get(name)}` } }));
  for (const client of clients) {
    context.defer(() => client.close());
    await openSession(client, "s");
  }
  return { server: url, clients, token: tokens.get("loud") ?? "" };
}

/** Calls as agents do, each owner one after the other, until `end` settles. @returns Milliseconds of each call. */
async function work(clients: readonly McpClient[], end: Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  let over = false;
  const ended = end.finally(() => {
    over = true;
  });
  const agent = async (client: McpClient): Promise<void> => {
    while (!over) {
      samples.push(await timed(() => call(client)));
      await pause(PAUSE_MS);
    }
  };
  await Promise.all([ended, ...clients.map(agent)]);
  return samples;
}

async function call(client: McpClient): Promise<void> {
  const { isError, content } = await client.call("run_code", { session_id: "s", code: "1+1" });
  if (isError) throw new Error(`A call of a quiet owner failed: ${content[0]?.text}`);
}

/** The loud owner, in a process of low priority: what it costs to send must not be measured as what it costs to serve. */
async function startLoud(context: BenchContext, server: URL, token: string) {
  const program = [process.execPath, `${context.dist}/abuser.js`, server.href, token, String(REQUESTS / ROUNDS)];
  const loud = await start(["nice", "-n", "19", ...program, String(LANES)], { env: cleanEnvironment() });
  context.defer(() => loud.child.kill("SIGKILL"));
  await until(() => loud.stdout().includes("ready"), "the loud owner");
  return {
    /** Sends all, and adds what was answered to `answers`. */
    async run(answers: Answers): Promise<void> {
      loud.child.stdin?.write("go\n");
      await within(loud.exited, LOUD_LIMIT_MS, "the loud owner's last answer");
      const told = JSON.parse(loud.stdout().split("\n")[1] ?? "{}") as Answers;
      for (const [status, count] of Object.entries(told)) answers[status] = (answers[status] ?? 0) + count;
    },
  };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
