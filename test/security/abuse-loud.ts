import { Agent, request } from "node:http";

/** A process that, once it is told to, sends an MCP server all that it can, and then says what it was answered. */

const [url = "", token = "", requests = "0", parallel = "1"] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: Number(parallel) });
const headers = {
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};
const bodies = [
  { method: "tools/call", params: { name: "create_session", arguments: {} } },
  { method: "tools/call", params: { name: "list_sessions", arguments: {} } },
  { method: "tools/list" },
  { method: "resources/list" },
].map((message, id) => JSON.stringify({ jsonrpc: "2.0", id, ...message }));

function send(body: string): Promise<string> {
  return new Promise((resolve) => {
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.once("close", () => resolve(String(response.statusCode)));
    });
    sent.once("error", (error) => resolve(error.message));
    sent.end(body);
  });
}

const statuses: Record<string, number> = {};
let left = Number(requests);

async function sendOn(): Promise<void> {
  while (left > 0) {
    left -= 1;
    const status = await send(bodies[left % bodies.length] ?? "");
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
}

process.once("message", async () => {
  await Promise.all(Array.from({ length: Number(parallel) }, sendOn));
  process.send?.(statuses);
  process.disconnect?.();
});
process.send?.("ready");
