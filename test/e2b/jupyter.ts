import type { IncomingMessage, ServerResponse } from "node:http";
import { sendJson } from "./http.ts";
import type { Sandbox } from "./sandbox.ts";

/** Serves what a client needs of the Jupyter server in a sandbox (port 8888): a kernel's state and its interrupt. */
export async function serveJupyter(
  sandbox: Sandbox,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const parts = new URL(request.url ?? "/", "http://sandbox").pathname.split("/").filter(Boolean);
  const context = sandbox.contexts.get(parts[2] ?? "");
  if (parts[0] !== "api" || parts[1] !== "kernels") return sendJson(response, 404, { message: "Not Found" });
  if (!context) return sendJson(response, 404, { message: `Kernel does not exist: ${parts[2]}` });
  const route = `${request.method} ${parts[3] ?? ""}`;
  if (route === "GET ") {
    return sendJson(response, 200, {
      id: context.id,
      name: "python3",
      execution_state: context.busy ? "busy" : "idle",
    });
  }
  if (route === "POST interrupt") {
    context.interrupt();
    return sendJson(response, 204);
  }
  sendJson(response, 405, { message: "Method Not Allowed" });
}
