import { startWorkerd } from "../../test/runtimes/workerd.ts";
import { type Bench, type BenchContext, type Row, ratioRow, us } from "../lib/bench.ts";
import { interleave, median, ratioOf, timed } from "../lib/measure.ts";
import { runProgram, storeKinds } from "../lib/stores.ts";

const SMALL = 100;
const LENGTH = { usual: 10_000, full: 100_000 };
const ROUNDS = 9;
/** Operations in one request to the object. */
const COUNT = 40;
/** Blocks written in one request to the object. */
const STRIDE = 2_000;

type Compared = { readonly small: number; readonly large: number; readonly ratio: number };
type Measured = { readonly read: Compared; readonly append: Compared };

/** What a long history costs. */
export const history: Bench = {
  name: "history",
  about: "ten blocks read from the middle of a long history, and one appended, against a history of 100, on each store",
  async run(context) {
    const length = context.full ? LENGTH.full : LENGTH.usual;
    const rows: Row[] = [];
    for (const { name, fresh, node } of storeKinds(context)) {
      const told = await runProgram<Measured>(context, node, "history", [await fresh(), String(length)]);
      rows.push(...rowsOf(name, length, told));
    }
    rows.push(...rowsOf("Durable Object", length, await measureObject(context, length)));
    return rows;
  },
};

function rowsOf(store: string, length: number, { read, append }: Measured): Row[] {
  const blocks = length.toLocaleString("en-US");
  const row = (what: string, { small, large, ratio }: Compared): Row =>
    ratioRow({ what: `${what} ${blocks}, ${store}`, floor: us(small), ours: us(large), ratio }, { most: 1.2 });
  return [row("10 blocks of", read), row("append at", append)];
}

async function measureObject({ defer }: BenchContext, length: number): Promise<Measured> {
  const workerd = await startWorkerd({ entry: "bench/programs/history-object.ts", env: {} });
  defer(() => workerd.stop());
  const ask = async (task: string, query: Readonly<Record<string, string | number>>): Promise<void> => {
    const search = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
    const response = await fetch(new URL(`/${task}?${search}`, workerd.url));
    if ((await response.text()) !== "done") throw new Error(`The object failed at ${task}: ${workerd.stderr()}`);
  };
  await ask("fill", { session: "small", from: 0, to: SMALL });
  for (let from = 0; from < length; from += STRIDE) {
    await ask("fill", { session: "large", from, to: Math.min(length, from + STRIDE) });
  }
  const each = (task: string, session: string, to: number) => async (): Promise<number> =>
    (await timed(() => ask(task, { session, to, count: COUNT }))) / COUNT;
  const contestants = {
    readSmall: each("history", "small", SMALL),
    readLarge: each("history", "large", length),
    appendSmall: each("append", "small", SMALL),
    appendLarge: each("append", "large", length),
  };
  await interleave(1, contestants);
  const rounds = await interleave(ROUNDS, contestants);
  const compared = (small: readonly number[], large: readonly number[]): Compared => ({
    small: median(small),
    large: median(large),
    ratio: ratioOf(large, small),
  });
  return {
    read: compared(rounds.readSmall, rounds.readLarge),
    append: compared(rounds.appendSmall, rounds.appendLarge),
  };
}
