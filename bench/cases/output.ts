import { runToEnd } from "../../test/helpers/process.ts";
import { type Bench, ms, type Row, ratioRow } from "../lib/bench.ts";
import { runCell, startE2bKernel } from "../lib/kernels.ts";
import { interleave, median, ratioOf, timed } from "../lib/measure.ts";
import { bareSandbox, type Sandbox, startStandIn } from "../lib/stand-in.ts";

const ROUNDS = 5;
/** A picture's data is carried whole; of printed text the kernel sends head and tail. */
const CODE = {
  "10 MB of prints": "for _ in range(100): print('x' * 99_999)",
  "50 MB of prints": "for _ in range(500): print('x' * 99_999)",
  "a picture of 10 MB":
    "from IPython.display import display\ndisplay({'image/png': 'A' * 10_000_000, 'text/plain': 'picture'}, raw=True)",
};

/** Much output from a sandbox. */
export const output: Bench = {
  name: "output",
  about: "10 MB and 50 MB of output from an E2B sandbox (a local stand-in), against curl",
  async run(context) {
    const standIn = await startStandIn(context);
    const sandbox = await bareSandbox(standIn);
    const kernel = await startE2bKernel(context, standIn);
    const rows: Row[] = [];
    let number = 0;
    for (const [what, code] of Object.entries(CODE)) {
      const rounds = await interleave(ROUNDS, {
        curl: () => timed(() => curl(sandbox, code)),
        ours: () => timed(() => runCell(kernel, code, number++)),
      });
      const numbers = { floor: ms(median(rounds.curl)), ours: ms(median(rounds.ours)) };
      rows.push(ratioRow({ what: `E2B: ${what}`, ...numbers, ratio: ratioOf(rounds.ours, rounds.curl) }, { most: 2 }));
    }
    return rows;
  },
};

async function curl({ url, headers }: Sandbox, code: string): Promise<void> {
  const named = Object.entries(headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
  const { code: exit, stderr } = await runToEnd(
    ["curl", "-sS", "-o", "/dev/null", "-X", "POST", ...named, "--data", JSON.stringify({ code }), url],
    { limitMs: 60_000 },
  );
  if (exit !== 0) throw new Error(`curl ended with ${exit}: ${stderr}`);
}
