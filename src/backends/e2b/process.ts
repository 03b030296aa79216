import { AppError } from "../../core/errors.ts";
import { decodeBase64, encodeBase64 } from "../../core/media.ts";
import { ENVD_PORT } from "./address.ts";
import { joined, readChunks } from "./lines.ts";
import type { RemoteSandbox } from "./sandbox.ts";

export type ProcessOptions = {
  readonly cmd: string;
  readonly args: readonly string[];
  readonly user: string;
  readonly cwd?: string;
  readonly envs?: Readonly<Record<string, string>>;
  /** Ends the wait; the process goes on. */
  readonly signal: AbortSignal;
  /** Standard output and error in order of arrival. */
  readonly onData?: (data: Uint8Array) => void;
  readonly onStart?: (pid: number) => void;
};

const PING_SECONDS = 10;
/** Three pings may be late before the stream counts as lost. */
const SILENCE_MS = PING_SECONDS * 3_000;
const END_STREAM = 2;

/** Headers of a request to envd in the name of a user of the sandbox. */
export function userHeader(user: string): Record<string, string> {
  return { Authorization: `Basic ${encodeBase64(new TextEncoder().encode(`${user}:`))}` };
}

/**
 * Runs a process in the sandbox to its end and resolves to its exit code (-1 when a signal ended it).
 * @throws AppError BACKEND_UNAVAILABLE when it could not be started or its stream was lost.
 */
export async function startProcess(sandbox: RemoteSandbox, options: ProcessOptions): Promise<number> {
  const { cmd, args, cwd, envs } = options;
  const config = { cmd, args, ...(cwd === undefined ? {} : { cwd }), ...(envs === undefined ? {} : { envs }) };
  const response = await sandbox.request({
    port: ENVD_PORT,
    method: "POST",
    path: "/process.Process/Start",
    headers: {
      "Content-Type": "application/connect+json",
      "Connect-Protocol-Version": "1",
      "Keepalive-Ping-Interval": String(PING_SECONDS),
      ...userHeader(options.user),
    },
    body: envelope({ process: config, stdin: false }),
    signal: options.signal,
  });
  if (!response.ok || !response.body) throw failed(`status ${response.status}`);
  for await (const [flags, message] of readEnvelopes(readChunks(response.body, SILENCE_MS))) {
    if (flags === END_STREAM) throw failed(errorIn(message));
    const code = handle(message, options);
    if (code !== undefined) return code;
  }
  throw failed("its stream was cut");
}

/** Sends SIGKILL to a process group in the sandbox. */
export async function killGroup(sandbox: RemoteSandbox, pid: number, user: string): Promise<void> {
  const signal = AbortSignal.timeout(5_000);
  await startProcess(sandbox, { cmd: "/bin/sh", args: ["-c", `kill -KILL -- -${pid}`], user, signal });
}

function failed(why: string): AppError {
  return new AppError("BACKEND_UNAVAILABLE", `A process could not be run in the sandbox (${why}); try again`);
}

type ProcessEvent = {
  readonly start?: { readonly pid: number };
  readonly data?: { readonly stdout?: string; readonly stderr?: string };
  readonly end?: { readonly exitCode?: number };
};

function handle(message: Record<string, unknown>, options: ProcessOptions): number | undefined {
  const { start, data, end } = (message.event ?? {}) as ProcessEvent;
  if (start) options.onStart?.(start.pid);
  const bytes = data?.stdout ?? data?.stderr;
  if (bytes) options.onData?.(decoded(bytes));
  if (!end) return undefined;
  return end.exitCode ?? 0; // JSON of protobuf leaves zeros out; -1 after a signal
}

function errorIn(message: Record<string, unknown>): string {
  const { message: text } = (message.error ?? {}) as { message?: unknown };
  return typeof text === "string" ? text.slice(0, 200) : "it ended without a word";
}

/** One message of the Connect protocol: flags, length, JSON. */
function envelope(message: unknown): Uint8Array<ArrayBuffer> {
  const body = new TextEncoder().encode(JSON.stringify(message));
  const whole = new Uint8Array(5 + body.length);
  new DataView(whole.buffer).setUint32(1, body.length);
  whole.set(body, 5);
  return whole;
}

async function* readEnvelopes(
  chunks: AsyncIterable<Uint8Array>,
): AsyncGenerator<readonly [number, Record<string, unknown>]> {
  let parts: Uint8Array[] = [];
  let size = 0;
  let wanted = 5;
  for await (const chunk of chunks) {
    parts.push(chunk);
    size += chunk.length;
    while (size >= wanted) {
      const bytes = joined(parts);
      const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
      wanted = 5 + length;
      parts = [bytes];
      if (size < wanted) break;
      const text = new TextDecoder().decode(bytes.subarray(5, wanted));
      yield [bytes[0] ?? 0, JSON.parse(text || "{}") as Record<string, unknown>];
      parts = [bytes.subarray(wanted)];
      size -= wanted;
      wanted = 5;
    }
  }
}

function decoded(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (!bytes) throw new Error("The output of a process is not base64");
  return bytes;
}
