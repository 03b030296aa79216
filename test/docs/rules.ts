import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { noRedis } from "../stores/redis-server.ts";
import { bun, denoRuntime, missing, node24 } from "../stores/runtimes.ts";

/**
 * How a command of a page is tried:
 * - `once`: runs to its end with exit code 0;
 * - `serve`: serves MCP over HTTP until it is told to end;
 * - `stdio`: answers on stdout and writes nothing else there;
 * - `none`: cannot run here, for the reason `why`; its syntax is checked.
 */
export type Rule = {
  readonly pattern: RegExp;
  readonly how: "once" | "serve" | "stdio" | "none";
  readonly why?: string;
  /** What runs in its place. */
  readonly as?: (command: string) => string;
  /** Typed into it. */
  readonly input?: string;
};

/** As `npx` would run it, from the packages of the tests. */
const MCPB = fileURLToPath(new URL("../node_modules/.bin/mcpb", import.meta.url));

const SETTINGS = String.raw`^(?:[A-Z_]+=\S+ )*`;

const once = (pattern: RegExp, more: Partial<Rule> = {}): Rule => ({ pattern, how: "once", ...more });
const serve = (program: string): Rule => ({ pattern: new RegExp(`${SETTINGS}${program}`), how: "serve", as: machine });
const stdio = (program: string): Rule => ({ pattern: new RegExp(`${SETTINGS}${program}$`), how: "stdio" });
const none = (pattern: RegExp, why: string): Rule => ({ pattern, how: "none", why });

/** The first that matches decides. A command that none matches fails its test: run it, or say why it cannot run. */
export const RULES: readonly Rule[] = [
  // The packages are there, else no test would run; what is checked is that the lockfile fits.
  once(/^npm ci$/, { as: () => "npm ci --dry-run --offline --ignore-scripts" }),
  none(/^npm test\b/, "runs this test"),
  none(/^\(cd \/tmp\/bundle && npm install /, "takes long; test/http/pack.test.ts installs the package"),
  once(/^npx -y @anthropic-ai\/mcpb /, {
    as: (command) => machine(command.replace("npx -y @anthropic-ai/mcpb", MCPB)),
  }),
  none(/^docker\b/, "needs Docker; test/packaging/docker.test.ts checks the files"),
  none(/^echo .* > \.env/, "belongs to Docker's set-up"),
  none(/^npx wrangler (?:dev|deploy --dry-run)$/, "needs another Node; test/runtimes/wrangler.test.ts runs it"),
  none(/\bnpx wrangler (?:deploy|login|tail|secret put|r2)\b/, "needs a Cloudflare account"),
  none(/^curl -s https:\/\/edge-python-repl\.ACCOUNT\./, "needs a Cloudflare account"),
  none(/^deno deploy\b/, "needs an account at Deno Deploy"),
  once(new RegExp(`${SETTINGS}npx edge-python-repl (?:doctor|sweep|token new)\\b`), { as: machine }),
  once(/^npx edge-python-repl setup [a-z-]+(?: |$)/, { input: "y\n" }),
  stdio("npx edge-python-repl"),
  stdio("deno task stdio"),
  stdio("bun run adapters/bun.ts --transport stdio"),
  serve("npm start$"),
  serve("deno task start\\b"),
  serve("deno run "),
  serve("bun run adapters/bun.ts$"),
  once(/^npm run demo$/),
  once(/^printf .* > \.dev\.vars$/),
  once(/^(?:curl -s|npm pack|mkdir|tar|cp) /, { as: machine }),
];

/** Where readers' machines differ from this one. */
function machine(command: string): string {
  // Node 20 has no SQLite, and not every machine has a Python in /usr/bin.
  const line = command.replace("/usr/bin/python3", '"$(command -v python3)"').replace(/(?<= )\/tmp\b/g, "$PAGE_TMP");
  return command.includes("sqlite:") ? `PATH=$NODE24:$PATH; ${line}` : line;
}

export function ruleOf(command: string): Rule | undefined {
  return RULES.find(({ pattern }) => pattern.test(command));
}

const NEEDS: readonly (readonly [RegExp, () => string | false])[] = [
  [/\bredis:\/\//, () => noRedis],
  [/\bsqlite:/, () => missing(node24)],
  [/\bdeno /, () => missing(denoRuntime)],
  [/\bbun /, () => missing(bun)],
  [/^curl /, () => runs("curl", "--version")],
  // What it can run without any rights here; without that the sandbox has no chance either.
  [/\bREPL_SANDBOX=bwrap/, () => runs("bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true")],
];

/** Why a command cannot run on this machine; undefined when it can. */
export function missingFor(command: string): string | undefined {
  for (const [pattern, need] of NEEDS) {
    const why = pattern.test(command) && need();
    if (why) return why;
  }
  return undefined;
}

function runs(program: string, ...args: string[]): string | false {
  return spawnSync(program, args).status === 0 ? false : `${program} is not installed or not allowed to run`;
}
