import type { IncomingMessage, ServerResponse } from "node:http";
import { serveEnvd } from "./envd.ts";
import { answersInstead, type Fault } from "./faults.ts";
import { header, sendJson, sendText } from "./http.ts";
import { serveInterpreter } from "./interpreter.ts";
import { serveJupyter } from "./jupyter.ts";
import type { Sandbox } from "./sandbox.ts";

const INTERPRETER_PORT = 49999;
const ENVD_PORT = 49983;
const JUPYTER_PORT = 8888;
/** A sandbox woken by traffic lives at least so long, in seconds. */
const WAKE_SECONDS = 300;

type Note = (plane: "data", port: number, sandboxId: string | null, request: IncomingMessage) => Fault | undefined;

/** Finds the sandbox and port of a request as E2B's proxy does, checks its rights, wakes it, and serves it. */
export async function serveData(
  sandboxes: ReadonlyMap<string, Sandbox>,
  note: Note,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const target = route(request);
  const fault = note("data", target?.port ?? 0, target?.id ?? null, request);
  if (await answersInstead(fault, request, response)) return;
  if (!target) return sendText(response, 400, "Invalid host");
  const sandbox = sandboxes.get(target.id);
  const refuse = (code: number, message: string) => sendJson(response, code, { sandboxId: target.id, message, code });
  if (!sandbox || sandbox.state === "gone") return refuse(502, "The sandbox was not found");
  const denied = trafficDenied(sandbox, target.port, header(request, "e2b-traffic-access-token"));
  if (sandbox.state === "paused") {
    if (!sandbox.spec.autoResume) return refuse(502, "The sandbox was not found");
    if (denied)
      return refuse(
        403,
        "This sandbox can't be resumed with the credentials provided. Check your access token and try again.",
      );
    sandbox.resume(Math.max(sandbox.spec.timeout, WAKE_SECONDS));
  }
  if (denied) return refuse(403, denied);
  sandbox.sockets.add(request.socket);
  // Afterwards the client may use the connection for another sandbox.
  response.once("close", () => sandbox.sockets.delete(request.socket));
  if (target.port === INTERPRETER_PORT) return serveInterpreter(sandbox, request, response, fault);
  if (target.port === ENVD_PORT) return serveEnvd(sandbox, request, response);
  if (target.port === JUPYTER_PORT) return serveJupyter(sandbox, request, response);
  sendJson(response, 502, {
    sandboxId: target.id,
    message: "The sandbox is running but port is not open",
    port: target.port,
    code: 502,
  });
}

/** Headers count only for hosts without a sandbox in their name; else the name is `PORT-ID.domain`. */
function route(request: IncomingMessage): { id: string; port: number } | undefined {
  const host = (header(request, "host") ?? "").replace(/:\d+$/, "");
  if (host === "localhost" || /^[\d.]+$/.test(host) || host.startsWith("sandbox.")) {
    const id = header(request, "e2b-sandbox-id");
    const port = Number(header(request, "e2b-sandbox-port"));
    return id && port ? { id, port } : undefined;
  }
  const [, port, id] = /^(\d+)-([a-z0-9]+)\./.exec(host) ?? [];
  return port && id ? { id, port: Number(port) } : undefined;
}

function trafficDenied(sandbox: Sandbox, port: number, token: string | undefined): string | undefined {
  if (sandbox.trafficToken === null || port === ENVD_PORT) return undefined;
  const name = "E2B-Traffic-Access-Token";
  if (token === undefined) return `Sandbox is secured with traffic access token. Token header '${name}' is missing`;
  if (token === sandbox.trafficToken) return undefined;
  return `Sandbox is secured with traffic access token. Provided token in header '${name}' is invalid`;
}
