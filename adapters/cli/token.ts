import { sha256 } from "../../src/auth/bytes.ts";
import { SCOPES } from "../../src/auth/principal.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import {
  formatTokenEntry,
  isTokenName,
  parseInstant,
  parseScopes,
  type TokenEntry,
} from "../../src/auth/token-entry.ts";

/** Where a command writes. Each text ends with a newline. */
export type TokenIo = {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Unix milliseconds. */
  readonly now?: () => number;
};

const USAGE = `Usage: edge-python-repl token new NAME [--scopes read|run|read+run] [--expires 90d|DATE]

Makes a bearer token for REPL_AUTH=token. The token is shown once; the server gets only its hash.

  NAME       names the owner of the sessions; 1 to 64 of A-Z a-z 0-9 . _ -
  --scopes   what the token may do: read (list, history), run (all that executes or changes); default read+run
  --expires  when it ends: days from now (90d), a date (2027-01-31, its start in UTC) or a date-time; default never
`;

const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * Runs `edge-python-repl token …`.
 * @param args What follows `token`.
 * @returns The exit code: 0, or 2 when the arguments are wrong.
 */
export async function tokenCommand(args: readonly string[], io: TokenIo): Promise<number> {
  if (args.includes("--help") || args.includes("-h")) {
    io.out(USAGE);
    return 0;
  }
  let request: Omit<TokenEntry, "hash">;
  try {
    request = parseArguments(args, io.now ?? Date.now);
  } catch (error) {
    io.err(`${(error as Error).message}\n\n${USAGE}`);
    return 2;
  }
  const token = newToken();
  const entry = formatTokenEntry({ ...request, hash: await sha256(token) });
  io.out(
    `Token, shown only now:\n\n  ${token}\n\nAdd this to REPL_TOKENS, after a comma or a new line:\n\n  ${entry}\n`,
  );
  return 0;
}

/** @throws Error with one sentence about the argument that is wrong. */
function parseArguments(args: readonly string[], now: () => number): Omit<TokenEntry, "hash"> {
  const [command, ...rest] = args;
  if (command !== "new") throw new Error(`Unknown token command ${JSON.stringify(command ?? "")}; wanted new`);
  const names: string[] = [];
  const options: Record<string, string> = {};
  for (let i = 0; i < rest.length; i++) {
    const item = rest[i] ?? "";
    if (!item.startsWith("-")) {
      names.push(item);
      continue;
    }
    const [flag = "", ...inline] = item.split("=");
    if (flag !== "--scopes" && flag !== "--expires") throw new Error(`Unknown option ${flag}`);
    const value = inline.length > 0 ? inline.join("=") : rest[++i];
    if (value === undefined || value === "") throw new Error(`${flag} needs a value`);
    options[flag] = value;
  }
  const [name, ...more] = names;
  if (name === undefined || more.length > 0) throw new Error(`Wanted one NAME, got ${names.length}`);
  if (!isTokenName(name)) throw new Error(`The name ${JSON.stringify(name)} is not 1 to 64 of A-Z a-z 0-9 . _ -`);
  return { name, ...scopesOf(options["--scopes"]), ...expiryOf(options["--expires"], now()) };
}

function scopesOf(text: string | undefined): Pick<TokenEntry, "scopes"> {
  return { scopes: text === undefined ? SCOPES : parseScopes(text.replaceAll(",", "+"), "The option --scopes") };
}

function expiryOf(text: string | undefined, now: number): Pick<TokenEntry, "expiresAt"> {
  if (text === undefined) return {};
  const [, count = "", unit = ""] = /^(\d{1,4})([hdw])$/.exec(text) ?? [];
  const relative = UNITS[unit];
  const expiresAt =
    relative === undefined
      ? parseInstant(text, "The option --expires")
      : Math.floor((now + Number(count) * relative) / 1000) * 1000;
  if (expiresAt <= now) throw new Error(`The option --expires is ${JSON.stringify(text)}, which is not in the future`);
  return { expiresAt };
}
