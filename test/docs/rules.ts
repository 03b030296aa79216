import { spawnSync } from "node:child_process";
import { noRedis } from "../stores/redis-server.ts";
import { bun, denoRuntime, missing } from "../stores/runtimes.ts";

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
  /** Why it cannot run on this machine; false when it can. */
  readonly skip?: () => string | false;
};

const SETTINGS = String.raw`^(?:[A-Z_]+=\S+ )*`;

/** Not every machine has one in /usr/bin. */
const PYTHON = '"$(command -v python3)"';

const none = (pattern: RegExp, why: string): Rule => ({ pattern, how: "none", why });

/** The first that matches decides. A command that none matches fails its test: run it, or say why it cannot run. */
export const RULES: readonly Rule[] = [
  {
    pattern: /^npm ci$/,
    how: "once",
    // The packages are there, else no test would run; what is checked is that the lockfile fits.
    as: () => "npm ci --dry-run --offline --ignore-scripts",
  },
  none(/^npm test\b/, "runs this test"),
  none(/^npm (?:pack|install)\b|mcpb|\/tmp\/bundle/, "test/packaging/bundle.test.ts makes the bundle"),
  none(/^docker\b/, "needs Docker; test/packaging/docker.test.ts checks the files"),
  none(/^echo .* > \.env/, "belongs to Docker's set-up"),
  {
    pattern: /REPL_SANDBOX=bwrap/,
    how: "serve",
    skip: () => canConfine(),
  },
  { pattern: /REPL_STORAGE=redis:/, how: "once", skip: () => noRedis },
  // Node 20 has no SQLite.
  { pattern: /REPL_STORAGE=sqlite:/, how: "once", as: (command) => `PATH=$NODE24:$PATH; ${command}` },
  { pattern: new RegExp(`${SETTINGS}npx edge-python-repl (?:doctor|sweep|token new)\\b`), how: "once" },
  { pattern: /^npx edge-python-repl setup [a-z-]+(?: |$)/, how: "once", input: "y\n" },
  { pattern: new RegExp(`${SETTINGS}npx edge-python-repl$`), how: "stdio" },
  {
    pattern: new RegExp(`${SETTINGS}npm start$`),
    how: "serve",
    as: (command) => command.replace("/usr/bin/python3", PYTHON),
  },
  { pattern: /^npm run demo$/, how: "once" },
  { pattern: new RegExp(`${SETTINGS}deno task start\\b`), how: "serve", skip: () => missing(denoRuntime) },
  { pattern: new RegExp(`${SETTINGS}bun run adapters/bun.ts$`), how: "serve", skip: () => missing(bun) },
  { pattern: /^(?:curl -s|tar) /, how: "once" },
  none(/^npx wrangler deploy$/, "needs a Cloudflare account"),
];

export function ruleOf(command: string): Rule | undefined {
  return RULES.find(({ pattern }) => pattern.test(command));
}

/** Programs that bubblewrap can run without any rights here, else the sandbox has no chance either. */
function canConfine(): string | false {
  const { status } = spawnSync("bwrap", ["--ro-bind", "/", "/", "--unshare-pid", "true"]);
  return status === 0 ? false : "bubblewrap is not installed or may not make namespaces here";
}
