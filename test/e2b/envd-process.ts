import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { header, readBody, readJson, sendJson } from "./http.ts";
import { signalGroup } from "./kernel-process.ts";
import type { Sandbox } from "./sandbox.ts";

const END_STREAM = 2;
const running = new Map<number, ChildProcess>();

/** Serves process.Process of envd: Start (stream), SendSignal, List. */
export async function serveProcess(
  sandbox: Sandbox,
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const method = path.split("/").pop();
  if (method === "Start") return start(sandbox, request, response);
  const body = await readJson(request);
  if (method === "List") {
    return sendJson(response, 200, { processes: [...running.keys()].map((pid) => ({ pid, config: {} })) });
  }
  if (method === "SendSignal") {
    const pid = Number((body.process as Record<string, unknown> | undefined)?.pid);
    if (!running.has(pid))
      return sendJson(response, 404, { code: "not_found", message: `process with pid ${pid} not found` });
    signalGroup(pid, String(body.signal) === "SIGNAL_SIGKILL" ? "SIGKILL" : "SIGTERM");
    return sendJson(response, 200, {});
  }
  sendJson(response, 501, { code: "unimplemented", message: `unknown method ${method}` });
}

/** 5 bytes before each message: flags and length. */
function envelope(flags: number, message: unknown): Buffer {
  const body = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt8(flags, 0);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function unwrap(bytes: Buffer): Record<string, unknown> {
  return JSON.parse(bytes.subarray(5, 5 + bytes.readUInt32BE(1)).toString("utf8")) as Record<string, unknown>;
}

async function start(sandbox: Sandbox, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const config = (unwrap(await readBody(request)).process ?? {}) as {
    cmd?: string;
    args?: string[];
    envs?: Record<string, string>;
    cwd?: string;
  };
  response.writeHead(200, { "content-type": "application/connect+json" });
  const cwd = config.cwd ?? sandbox.home;
  if (!existsSync(cwd)) {
    return void response.end(
      envelope(END_STREAM, { error: { code: "invalid_argument", message: `cwd '${cwd}' does not exist` } }),
    );
  }
  const child = spawn(config.cmd ?? "", config.args ?? [], {
    cwd,
    env: { ...sandbox.environment(), ...config.envs },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.once("error", (error) =>
    response.end(envelope(END_STREAM, { error: { code: "invalid_argument", message: error.message } })),
  );
  if (child.pid !== undefined) stream(child, child.pid, request, response);
}

function stream(child: ChildProcess, pid: number, request: IncomingMessage, response: ServerResponse): void {
  const send = (event: unknown) => void response.write(envelope(0, { event }));
  running.set(pid, child);
  send({ start: { pid } });
  child.stdout?.on("data", (data: Buffer) => send({ data: { stdout: data.toString("base64") } }));
  child.stderr?.on("data", (data: Buffer) => send({ data: { stderr: data.toString("base64") } }));
  const limit = Number(header(request, "connect-timeout-ms") ?? 0);
  const timer = limit > 0 ? setTimeout(() => signalGroup(pid, "SIGKILL"), limit) : undefined;
  const keepalive = setInterval(
    () => send({ keepalive: {} }),
    Number(header(request, "keepalive-ping-interval") ?? 90) * 1000,
  );
  child.once("close", (code, signal) => {
    clearTimeout(timer);
    clearInterval(keepalive);
    running.delete(pid);
    const status = signal ? `signal: ${signal}` : `exit status ${code}`;
    // JSON of protobuf leaves zeros and falses out.
    send({
      end: { ...(code === 0 ? {} : { exitCode: code ?? -1 }), ...(code === null ? {} : { exited: true }), status },
    });
    response.end(envelope(END_STREAM, {}));
  });
}
