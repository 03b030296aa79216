import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT, runToEnd } from "../../test/helpers/process.ts";
import { noRedis, startRedis } from "../../test/stores/redis-server.ts";
import type { BenchContext } from "./bench.ts";

/** A kind of store to measure, or why it is not there. */
export type StoreKind = {
  readonly name: string;
  /** A store of that kind that nobody has used. */
  readonly fresh: () => Promise<string>;
  /** The runtime that has it. */
  readonly node: string;
};

const NODE_24 = join(ROOT, "test/node_modules/node24/bin/node");
const LIMIT_MS = 1_500_000;

/** Files, SQLite and Redis, as far as this machine has them. */
export function storeKinds(context: BenchContext): StoreKind[] {
  const kinds: StoreKind[] = [{ name: "files", fresh: async () => `fs:${folderOf(context)}`, node: process.execPath }];
  if (existsSync(NODE_24)) {
    kinds.push({ name: "SQLite", fresh: async () => `sqlite:${folderOf(context)}/history.db`, node: NODE_24 });
  } else context.note("SQLite is left out: Node 24 is not among the packages of test/");
  if (noRedis) context.note(`Redis is left out: ${noRedis}`);
  else kinds.push({ name: "Redis", fresh: () => freshRedis(context), node: process.execPath });
  return kinds;
}

function folderOf({ folder }: BenchContext): string {
  return join(folder, crypto.randomUUID());
}

async function freshRedis(context: BenchContext): Promise<string> {
  const server = await startRedis();
  context.defer(() => server.stop());
  return server.url;
}

/** Runs a program of bench/programs and returns what it printed as JSON. */
export async function runProgram<T>(
  context: BenchContext,
  node: string,
  name: string,
  args: readonly string[],
): Promise<T> {
  const command: [string, ...string[]] = [node, join(context.dist, `${name}.js`), ...args];
  const { code, stdout, stderr } = await runToEnd(command, { limitMs: LIMIT_MS });
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${stderr}`);
  return JSON.parse(stdout) as T;
}
