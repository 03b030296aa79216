import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cleanEnvironment, ROOT } from "../helpers/process.ts";

const MODULES = join(ROOT, "test/node_modules");

/** Why wrangler cannot be used here; false when it can. It needs a newer Node than the one under test. */
export const noWrangler: string | false =
  existsSync(join(MODULES, "node24/bin/node")) && existsSync(join(MODULES, ".bin/wrangler"))
    ? false
    : "wrangler or its Node is not installed";

export const WRANGLER: readonly [string, ...string[]] = [
  join(MODULES, "node24/bin/node"),
  join(MODULES, "wrangler/bin/wrangler.js"),
];

/** It asks nothing, tells nobody, and needs no account. */
export function wranglerEnvironment(): Record<string, string> {
  const path = `${join(MODULES, "node24/bin")}${delimiter}${process.env.PATH ?? ""}`;
  return cleanEnvironment({ PATH: path, CI: "1", WRANGLER_SEND_METRICS: "false", NO_COLOR: "1" });
}
