import type { InstallOptions, InstallReply } from "../../core/backend.ts";
import { AppError } from "../../core/errors.ts";
import { killGroup, startProcess } from "./process.ts";
import { INSTALL_SOURCE } from "./python-sources.ts";
import type { KernelFacts } from "./ref.ts";
import type { RemoteSandbox } from "./sandbox.ts";

/** The line by which the installer in the sandbox tells what changed. */
const RESULT_MARK = "\u0001edge-repl ";
const LAST_LINES = 5;
const MOST_CHARS = 600;

/**
 * Installs with pip into the environment of the session's interpreter.
 * @throws AppError INSTALL_FAILED, CANCELLED, BACKEND_UNAVAILABLE.
 */
export async function installInSandbox(
  sandbox: RemoteSandbox,
  facts: KernelFacts,
  requirements: readonly string[],
  { signal, onProgress }: InstallOptions,
): Promise<InstallReply> {
  const cancelled = () => new AppError("CANCELLED", "The installation was cancelled");
  if (signal.aborted) throw cancelled();
  if (sandbox.remainingMs < sandbox.settings.leaseMs / 2) await sandbox.renew();
  const lines: string[] = [];
  let reply: InstallReply | undefined;
  let pid = 0;
  const take = lineTaker((line) => {
    if (line.startsWith(RESULT_MARK)) reply = JSON.parse(line.slice(RESULT_MARK.length)) as InstallReply;
    else if (line.trim() !== "") {
      lines.push(line);
      onProgress(line);
    }
  });
  try {
    const code = await startProcess(sandbox, {
      cmd: facts.executable,
      args: ["-c", INSTALL_SOURCE, ...requirements],
      user: facts.user,
      signal,
      onStart: (started) => {
        pid = started;
      },
      onData: take,
    });
    if (code === 0 && reply) return reply;
    throw new AppError("INSTALL_FAILED", reasonOf(lines, code));
  } catch (error) {
    if (!signal.aborted) throw error;
    if (pid > 0)
      await killGroup(sandbox, pid, facts.user).catch((cause: unknown) => sandbox.settings.log(String(cause)));
    throw cancelled();
  }
}

/** Bytes to lines, also those that a carriage return ends. */
function lineTaker(onLine: (line: string) => void): (data: Uint8Array) => void {
  const decoder = new TextDecoder();
  let rest = "";
  return (data) => {
    const parts = (rest + decoder.decode(data, { stream: true })).split(/\r?\n|\r/);
    rest = parts.pop() ?? "";
    for (const part of parts) onLine(part);
  };
}

/** What pip said was wrong, or its last lines, in one sentence. */
function reasonOf(lines: readonly string[], code: number): string {
  const errors = lines.filter((line) => /^\s*error/i.test(line)).map((line) => line.trim().replace(/^ERROR:\s*/i, ""));
  const said = (errors.length > 0 ? errors : lines.slice(-LAST_LINES)).join("; ").slice(0, MOST_CHARS);
  return `pip could not install it: ${said || `it ended with code ${code}`}`.replace(/[.\s]+$/, "");
}
