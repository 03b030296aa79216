import { homedir } from "node:os";

/** What a command of the bin may touch of the process it runs in; tests hand in their own. */
export type CliIo = {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
  readonly stdin: AsyncIterable<Uint8Array | string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** As `process.platform`. */
  readonly platform: string;
  /** Where `--project` writes; the process's folder when absent. */
  readonly cwd?: string;
  /** How this program was started, for the configuration of a client that shall start it again. */
  readonly program?: { readonly node: string; readonly script?: string };
};

/** The process as it is. */
export function processIo(): CliIo {
  const script = process.argv[1];
  return {
    stdout: process.stdout,
    stderr: process.stderr,
    stdin: process.stdin,
    env: process.env,
    home: homedir(),
    platform: process.platform,
    cwd: process.cwd(),
    program: { node: process.execPath, ...(script !== undefined && { script }) },
  };
}

/** A command could not do what it was asked. The message is one sentence; `exitCode` 2 means the call itself was wrong. */
export class CliError extends Error {
  override readonly name = "CliError";
  readonly exitCode: 1 | 2;

  constructor(message: string, exitCode: 1 | 2 = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Writes a CliError to stderr and returns its exit code; any other error is thrown on. */
export function reportCliError(error: unknown, io: Pick<CliIo, "stderr">): number {
  if (!(error instanceof CliError)) throw error;
  io.stderr.write(`${error.message}\n`);
  return error.exitCode;
}

/** Asks on stdout and reads one line of stdin. Only `y` or `yes` is a yes; the end of input is a no. */
export async function askYes(io: Pick<CliIo, "stdout" | "stdin">, question: string): Promise<boolean> {
  io.stdout.write(`${question} [y/N] `);
  const decoder = new TextDecoder();
  let line = "";
  for await (const chunk of io.stdin) {
    line += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    if (line.includes("\n") || line.length > 1000) break;
  }
  if (!line.includes("\n")) io.stdout.write("\n");
  return /^\s*y(es)?\s*$/i.test(line.split("\n")[0] ?? "");
}
