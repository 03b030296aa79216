import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

/** A runtime of the matrix: how it runs a program, and files as tests. */
export type Runtime = {
  readonly name: string;
  readonly program: string;
  readonly run: readonly string[];
  readonly test: readonly string[];
};

const loader = ["--import", join(modules, "tsx/dist/loader.mjs")];
const deno = ["-A", "--no-check", "--no-prompt", "--unstable-kv"];

/** What runs this test. */
export const here: Runtime = {
  name: "node",
  program: process.execPath,
  run: [],
  test: [...loader, "--test"],
};
export const node24: Runtime = { name: "node24", program: join(modules, "node24/bin/node"), run: [], test: ["--test"] };
export const denoRuntime: Runtime = {
  name: "deno",
  // The program itself: the package's script would not die with its child.
  program: join(
    modules,
    `@deno/${process.platform}-${process.arch}${process.platform === "linux" ? "-glibc" : ""}/deno`,
  ),
  run: ["run", ...deno],
  test: ["test", ...deno],
};
export const bun: Runtime = {
  name: "bun",
  program: join(modules, `@oven/bun-${process.platform}-${process.arch}/bin/bun`),
  run: ["run"],
  test: ["test"],
};

/** Why the runtime cannot be used here; false when it can. */
export function missing(runtime: Runtime): string | false {
  return existsSync(runtime.program) ? false : `${runtime.name} is not installed`;
}
