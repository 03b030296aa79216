import { posix } from "node:path";
import { runProgram } from "../../src/backends/subprocess/run-program.ts";
import type { Command, Confined } from "../../src/backends/subprocess/sandbox.ts";
import { AppError } from "../../src/core/errors.ts";

/** The home of each session, as it is called inside. */
export const HOME = "/home/repl";

const CHECK_MS = 10_000;

/** Where a session starts, as it is called inside: `~` and relative paths mean its home. @throws AppError INVALID_CWD. */
export function insideFolder(wanted: string | undefined): string {
  if (wanted === undefined) return HOME;
  if (wanted.includes("\0")) throw refuse(wanted, "holds a NUL character");
  return posix.resolve(HOME, wanted.replace(/^~(?=\/|$)/, HOME));
}

/** The command that `checkFolder` needs, to be confined as the session will be. */
export function folderCheck(folder: string): Command {
  const script = '[ -e "$1" ] || exit 3; [ -d "$1" ] || exit 4; [ -r "$1" ] && [ -x "$1" ] || exit 5';
  return ["/bin/sh", "-c", script, "sh", folder];
}

const PROBLEMS: Readonly<Record<number, string>> = {
  3: "does not exist in the sandbox",
  4: "is not a folder",
  5: "may not be read",
};

/**
 * Looks from inside, where links that code has made lead to nothing else than what it sees.
 * @throws AppError INVALID_CWD.
 */
export async function checkFolder(wanted: string, { command, env }: Confined): Promise<void> {
  const end = await runProgram(command, { env, limitMs: CHECK_MS, onOutput: () => undefined });
  const problem = end.kind === "exit" ? PROBLEMS[end.code] : undefined;
  if (problem !== undefined) throw refuse(wanted, problem);
}

function refuse(wanted: string, problem: string): AppError {
  const advice = "give a folder that exists there, or none for the session's home";
  return new AppError("INVALID_CWD", `cwd ${JSON.stringify(wanted)} ${problem}; ${advice}`);
}
