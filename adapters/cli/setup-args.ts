import { CLIENTS } from "./clients/list.ts";
import { CliError } from "./setup-io.ts";

export type SetupArgs = {
  readonly client?: string;
  readonly url?: string;
  readonly command?: readonly string[];
  readonly tokenEnv?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly name: string;
  readonly file?: string;
  readonly print: boolean;
  readonly yes: boolean;
  readonly project: boolean;
  readonly help: boolean;
};

const DEFAULT_NAME = "python";
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

export const SETUP_HELP = `Usage: edge-python-repl setup CLIENT [options]

Adds this server to an MCP client's configuration, after showing the change.

CLIENT is one of ${CLIENTS.map((client) => client.id).join(", ")}.
Without CLIENT: lists them and where each keeps its configuration.

Options:
  --url URL           connect to a running server instead of starting one
  --token-env NAME    with --url: the variable that holds the bearer token
  --env NAME=VALUE    a setting for the server that the client starts; may be repeated
  --name NAME         what the client calls the server (default ${DEFAULT_NAME})
  --project           write the project's file in this folder instead of your own
  --file PATH         write this file instead of the client's usual one
  --print             print the configuration and write nothing
  --yes               do not ask
  --command PROG ...  start the server with this command; takes all that follows
`;

function checkedEnv(pair: string): [string, string] {
  const cut = pair.indexOf("=");
  const name = pair.slice(0, Math.max(cut, 0));
  if (!VARIABLE.test(name)) throw new CliError(`--env takes NAME=VALUE, not ${JSON.stringify(pair)}`, 2);
  return [name, pair.slice(cut + 1)];
}

function checked(args: SetupArgs): SetupArgs {
  if (args.url !== undefined && args.command !== undefined) {
    throw new CliError("Give either --url or --command, not both", 2);
  }
  if (args.command?.length === 0) throw new CliError("--command needs the program to start after it", 2);
  if (args.tokenEnv !== undefined && args.url === undefined) throw new CliError("--token-env needs --url", 2);
  if (args.tokenEnv !== undefined && !VARIABLE.test(args.tokenEnv)) {
    throw new CliError("--token-env takes the name of a variable, not a token", 2);
  }
  if (args.url !== undefined && Object.keys(args.env).length > 0) {
    throw new CliError("--env is for a server that the client starts: leave it out with --url", 2);
  }
  if (!/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(args.name)) {
    throw new CliError(`--name must be 1 to 64 of A-Z a-z 0-9 _ -, not ${JSON.stringify(args.name)}`, 2);
  }
  if (args.file !== undefined && args.project) throw new CliError("Give either --file or --project, not both", 2);
  return args;
}

type Draft = { -readonly [Key in keyof SetupArgs]: SetupArgs[Key] };

/** Takes one flag's value off `rest`. */
function flagValue(flag: string, inline: string | undefined, rest: string[]): string {
  const value = inline ?? rest.shift();
  if (value === undefined || value === "") throw new CliError(`${flag} needs a value`, 2);
  return value;
}

function takeFlag(draft: Draft, flag: string, inline: string | undefined, rest: string[]): boolean {
  if (flag === "--url") draft.url = flagValue(flag, inline, rest);
  else if (flag === "--token-env") draft.tokenEnv = flagValue(flag, inline, rest);
  else if (flag === "--name") draft.name = flagValue(flag, inline, rest);
  else if (flag === "--file") draft.file = flagValue(flag, inline, rest);
  else if (flag === "--env") {
    const [name, value] = checkedEnv(flagValue(flag, inline, rest));
    draft.env = { ...draft.env, [name]: value };
  } else if (inline !== undefined) return false;
  else if (flag === "--print") draft.print = true;
  else if (flag === "--yes" || flag === "-y") draft.yes = true;
  else if (flag === "--project") draft.project = true;
  else if (flag === "--help" || flag === "-h") draft.help = true;
  else if (flag === "--command") draft.command = rest.splice(0);
  else return false;
  return true;
}

/** Reads the arguments after `setup`. @throws CliError with exit code 2. */
export function parseSetupArgs(args: readonly string[]): SetupArgs {
  const rest = [...args];
  const draft: Draft = { env: {}, name: DEFAULT_NAME, print: false, yes: false, project: false, help: false };
  for (let arg = rest.shift(); arg !== undefined; arg = rest.shift()) {
    const [, flag = arg, inline] = /^(--[a-z-]+)=([\s\S]*)$/.exec(arg) ?? [];
    if (arg.startsWith("-")) {
      if (!takeFlag(draft, flag, inline, rest)) throw new CliError(`Unknown option ${arg}; see setup --help`, 2);
    } else if (draft.client === undefined) draft.client = arg;
    else throw new CliError(`One client at a time, not also ${JSON.stringify(arg)}`, 2);
  }
  return checked(draft);
}
