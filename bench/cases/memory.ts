import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Bench, type BenchContext, mb, ratioRow } from "../lib/bench.ts";
import { median } from "../lib/measure.ts";
import { descendants, proportional } from "../lib/process-memory.ts";
import { connect, openSession, startOurs } from "../lib/servers.ts";

const COUNT = 8;

/** What an idle session costs. */
export const memory: Bench = {
  name: "memory",
  about: "memory of an idle kernel with its monitor, against bare interpreters (proportional set size)",
  async run(context) {
    const bare = await Promise.all(Array.from({ length: COUNT }, () => startBare(context)));
    const server = await startOurs(context, { REPL_STORAGE: "memory" });
    const client = connect(context, server.url);
    for (let index = 0; index < COUNT; index += 1) await openSession(client, `s${index}`);
    const floor = median(bare.map((child) => proportional(child.pid ?? 0)));
    const sum = descendants(server.pid).reduce((bytes, pid) => bytes + proportional(pid), 0);
    const ours = sum / COUNT;
    const what = `memory of an idle session, ${COUNT} of each`;
    return [ratioRow({ what, floor: mb(floor), ours: mb(ours), ratio: ours / floor }, { most: 1.3 })];
  },
};

async function startBare({ python, defer }: BenchContext): Promise<ChildProcess> {
  const child = spawn(python, ["-I", "-c", "print(); input()"], { stdio: ["pipe", "pipe", "ignore"] });
  defer(() => child.kill());
  await once(child.stdout, "data");
  return child;
}
