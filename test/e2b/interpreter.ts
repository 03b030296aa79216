import type { IncomingMessage, ServerResponse } from "node:http";
import type { Line } from "./context.ts";
import { BodyWriter, type Fault } from "./faults.ts";
import { header, readJson, sendJson, sendText } from "./http.ts";
import { pythonJson } from "./json-lines.ts";
import type { Sandbox } from "./sandbox.ts";

/** Serves the code interpreter of a sandbox (port 49999). */
export async function serveInterpreter(
  sandbox: Sandbox,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  const parts = new URL(request.url ?? "/", "http://sandbox").pathname.split("/").filter(Boolean);
  const route = `${request.method} ${parts[0] ?? ""}`;
  if (route === "GET health") return sendJson(response, 200, "OK");
  if (route === "POST execute") return execute(sandbox, request, response, fault);
  if (parts[0] === "contexts") return serveContexts(sandbox, parts, request, response);
  sendJson(response, 404, { detail: "Not Found" });
}

async function serveContexts(
  sandbox: Sandbox,
  parts: string[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const route = `${request.method} ${parts.length}`;
  if (route === "GET 1") {
    const contexts = [...sandbox.contexts.values()];
    return sendJson(
      response,
      200,
      contexts.map(({ id, language, cwd }) => ({ id, language, cwd })),
    );
  }
  if (route === "POST 1") {
    const body = await readJson(request);
    const language = String(body.language ?? "python");
    if (language !== "python") return sendText(response, 500, `Failed to create context: no kernel for ${language}`);
    const { id, cwd } = await sandbox.addContext(language, String(body.cwd ?? sandbox.home));
    return sendJson(response, 200, { language, id, cwd });
  }
  const context = sandbox.contexts.get(parts[1] ?? "");
  if (!context) return sendText(response, 404, `Context ${parts[1]} not found`);
  if (route === "DELETE 2") {
    context.close();
    sandbox.contexts.delete(context.id);
    return sendJson(response, 200, null);
  }
  if (route === "POST 3" && parts[2] === "restart") {
    await context.restart();
    return sendJson(response, 200, null);
  }
  sendJson(response, 405, { detail: "Method Not Allowed" });
}

async function execute(
  sandbox: Sandbox,
  request: IncomingMessage,
  response: ServerResponse,
  fault: Fault | undefined,
): Promise<void> {
  const body = await readJson(request);
  if (typeof body.code !== "string")
    return sendJson(response, 422, { detail: [{ msg: "Field required", loc: ["body", "code"] }] });
  if (body.context_id && body.language) {
    return sendText(response, 400, "Only one of context_id or language can be provided");
  }
  const context = sandbox.contexts.get(String(body.context_id ?? sandbox.defaultContext));
  if (!context) return sendText(response, 404, `Context ${body.context_id} not found`);
  response.writeHead(200, { "transfer-encoding": "chunked" });
  response.flushHeaders();
  const writer = new BodyWriter(response, fault);
  const gone = new AbortController();
  response.once("close", () => gone.abort());
  const show = (line: Line) => `${writer.rawUtf8 ? JSON.stringify(line) : pythonJson(line)}\n`;
  for await (const line of context.execute(body.code, header(request, "x-access-token"), gone.signal)) {
    await writer.write(show(line));
  }
  if (gone.signal.aborted) {
    if (sandbox.interruptOnDisconnect && sandbox.state === "running") context.interrupt();
    return;
  }
  await writer.write('{"type": "end_of_execution"}\n');
  writer.end();
}
