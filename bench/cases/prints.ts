import { spawn } from "node:child_process";
import { once } from "node:events";
import { amountRow, type Bench, type BenchContext, mb, ms, type Row, ratioRow } from "../lib/bench.ts";
import type { McpClient } from "../lib/mcp-client.ts";
import { interleave, median, ratioOf, timed } from "../lib/measure.ts";
import { descendants, peak, resetPeak, resident } from "../lib/process-memory.ts";
import { connect, openSession, startOurs } from "../lib/servers.ts";

const BYTES = 100_000_000;
const SHAPES = { "lines of 100 bytes": 100, "lines of 100 kB": 100_000 };
const ROUNDS = 3;

/** A flood of output, of which the reply keeps head and tail. */
export const prints: Bench = {
  name: "prints",
  about: "100 MB of prints, against the same program through a pipe into cat; and what memory grows meanwhile",
  async run(context) {
    const server = await startOurs(context, { REPL_STORAGE: "memory" });
    const client = connect(context, server.url);
    await openSession(client, "s");
    const rows: Row[] = [];
    for (const [shape, width] of Object.entries(SHAPES)) {
      const code = `for _ in range(${BYTES / width}): print('x' * ${width - 1})`;
      await run(client, code); // What a first flood makes grow once is not the second one's.
      const pids = [server.pid, ...descendants(server.pid)];
      const before = pids.map(resident);
      for (const pid of pids) resetPeak(pid);
      const rounds = await interleave(ROUNDS, {
        floor: () => timed(() => throughCat(context, code)),
        unbuffered: () => timed(() => throughCat(context, code, "-u")),
        ours: () => timed(() => run(client, code)),
      });
      const grown = Math.max(...pids.map((pid, index) => peak(pid) - (before[index] ?? 0)));
      const unbuffered = ms(median(rounds.unbuffered));
      const numbers = {
        floor: `${ms(median(rounds.floor))} (unbuffered ${unbuffered})`,
        ours: ms(median(rounds.ours)),
      };
      rows.push(
        ratioRow(
          { what: `100 MB of prints, ${shape}`, ...numbers, ratio: ratioOf(rounds.ours, rounds.floor) },
          { most: 3 },
        ),
        amountRow(
          { what: "growth of server, monitor, kernel: the most", floor: "", ours: mb(grown) },
          grown / 2 ** 20,
          32,
          "MB",
        ),
      );
    }
    return rows;
  },
};

async function run(client: McpClient, code: string): Promise<void> {
  const { structuredContent } = await client.call("run_code", { session_id: "s", code });
  if (structuredContent?.status !== "ok") throw new Error(`The prints ended with ${structuredContent?.status}`);
}

async function throughCat({ python }: BenchContext, code: string, ...options: readonly string[]): Promise<void> {
  const script = `"$0" -I ${options.join(" ")} -c "$1" | cat > /dev/null`;
  const child = spawn("sh", ["-c", script, python, code], { stdio: "ignore" });
  await once(child, "exit");
}
