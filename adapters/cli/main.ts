import { parseArgs } from "node:util";
import { ConfigError, parseConfig, SETTING_NAMES } from "../../src/config.ts";
import { VERSION } from "../../src/version.ts";
import { StartError } from "../compose.ts";
import { type HttpRuntime, serveHttp } from "../http.ts";
import { serveOverStdio } from "../stdio.ts";
import { doctorCommand } from "./doctor.ts";
import { HELP } from "./help.ts";
import { setupCommand } from "./setup.ts";
import { sweepCommand } from "./sweep.ts";
import { tokenCommand } from "./token.ts";

/** Subcommands get their own arguments and return an exit code. */
const COMMANDS: Readonly<Record<string, (args: string[]) => Promise<number>>> = {
  setup: setupCommand,
  doctor: doctorCommand,
  token: (args) =>
    tokenCommand(args, { out: (text) => process.stdout.write(text), err: (text) => process.stderr.write(text) }),
  sweep: sweepCommand,
};

/** `MCP_PORT` → `port`, `REPL_MAX_TIMEOUT` → `max-timeout`, `E2B_API_KEY` → `e2b-api-key`. */
function flagOf(setting: string): string {
  return setting
    .replace(/^(MCP|REPL)_/, "")
    .toLowerCase()
    .replaceAll("_", "-");
}

const FLAGS = new Map(SETTING_NAMES.map((name) => [flagOf(name), name]));

/** Flags win over the environment. @throws ConfigError for an unknown flag. */
function settingsOf(args: string[]): { settings: Record<string, string>; help: boolean; version: boolean } {
  const options = Object.fromEntries([...FLAGS.keys()].map((flag) => [flag, { type: "string" as const }]));
  try {
    const { values } = parseArgs({
      args,
      options: { ...options, help: { type: "boolean", short: "h" }, version: { type: "boolean", short: "v" } },
    });
    const { help = false, version = false, ...given } = values as Record<string, string | boolean>;
    const settings = Object.entries(given).map(([flag, value]) => [FLAGS.get(flag), value]);
    return { settings: Object.fromEntries(settings), help: Boolean(help), version: Boolean(version) };
  } catch (error) {
    throw new ConfigError(`${error instanceof Error ? error.message : error}; --help lists the flags`);
  }
}

async function main(args: string[], http: HttpRuntime, defaults: Record<string, string>): Promise<number | undefined> {
  const command = COMMANDS[args[0] ?? ""];
  if (command) return command(args.slice(1));
  const { settings, help, version } = settingsOf(args);
  if (help || version) {
    process.stdout.write(help ? HELP : `${VERSION}\n`);
    return 0;
  }
  // An empty value counts as absent, so that it leaves the default alone.
  const env = Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== ""));
  const config = parseConfig({ ...defaults, ...env, ...settings });
  await (config.MCP_TRANSPORT === "stdio" ? serveOverStdio(config) : serveHttp(config, http));
  return undefined;
}

/**
 * The command line of every runtime: `http` is its HTTP server, `defaults` are settings it starts from.
 * A bad setting ends with one sentence and exit code 2.
 */
export function runCli(args: string[], http: HttpRuntime, defaults: Record<string, string> = {}): void {
  main(args, http, defaults).then(
    (code) => {
      if (code !== undefined) process.exitCode = code;
    },
    (error: unknown) => {
      const expected = error instanceof ConfigError || error instanceof StartError ? error.message : undefined;
      const told = http.explain?.(error) ?? expected;
      process.stderr.write(`edge-python-repl: ${told ?? (error as Error)?.stack}\n`);
      process.exit(told === undefined ? 1 : 2);
    },
  );
}
