import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { ROOT } from "../helpers/process.ts";

const MODULES = join(ROOT, "test/node_modules");

type Command = readonly [string, ...string[]];

/** A runtime that starts our server as a process, by the command that the manual gives. */
export type ServerRuntime = {
  readonly name: "node20" | "node22" | "node24" | "deno" | "bun";
  readonly http: Command;
  readonly stdio: Command;
  /** With fewer rights: sandboxes of E2B, and the store that needs no files. */
  readonly confined?: Command;
  /** `sqlite` needs a module that Node 20 lacks, `deno-kv` needs Deno. */
  readonly stores: readonly StoreName[];
};

export type StoreName = "memory" | "fs" | "sqlite" | "redis" | "deno-kv";

const DENO = join(MODULES, "@deno/linux-x64-glibc/deno");
const BUN = join(MODULES, "@oven/bun-linux-x64/bin/bun");
const COMMON = ["memory", "fs", "redis"] as const;

/** A task of deno.json, so that what is tested is what is documented, permissions included. */
function denoTask(name: string): Command {
  const { tasks } = JSON.parse(readFileSync(join(ROOT, "deno.json"), "utf8")) as { tasks: Record<string, string> };
  const [program, ...args] = tasks[name]?.split(" ") ?? [];
  if (program !== "deno") throw new Error(`The task ${name} of deno.json does not run deno`);
  return [DENO, ...args.map((arg) => (arg.startsWith("adapters/") ? join(ROOT, arg) : arg))];
}

function node(name: "node20" | "node22" | "node24", program: string): ServerRuntime {
  const command = [program, join(ROOT, "dist/cli.js")] as const;
  const stores = name === "node20" ? COMMON : ([...COMMON, "sqlite"] as const);
  return { name, http: command, stdio: command, stores };
}

const bun = [BUN, "run", join(ROOT, "adapters/bun.ts")] as const;

export const RUNTIMES: readonly ServerRuntime[] = [
  node("node20", process.execPath),
  node("node22", join(MODULES, "node22/bin/node")),
  node("node24", join(MODULES, "node24/bin/node")),
  {
    name: "deno",
    http: denoTask("start"),
    confined: denoTask("start:e2b"),
    stdio: denoTask("stdio"),
    stores: [...COMMON, "sqlite", "deno-kv"],
  },
  { name: "bun", http: bun, stdio: [...bun, "--transport", "stdio"], stores: [...COMMON, "sqlite"] },
];

export function runtimeOf(name: ServerRuntime["name"]): ServerRuntime {
  const found = RUNTIMES.find((runtime) => runtime.name === name);
  if (!found) throw new Error(`There is no runtime ${name}`);
  return found;
}

/** Why the runtime cannot be used here; false when it can. */
export function missing({ name, http: [program] }: ServerRuntime): string | false {
  return existsSync(program) ? false : `${name} is not installed`;
}

/** A PATH on which the programs `deno` and `bun` are ours. */
export const PATH_WITH_RUNTIMES = [dirname(DENO), dirname(BUN), process.env.PATH ?? ""].join(delimiter);
