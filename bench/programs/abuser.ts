import { Agent, request } from "node:http";

/**
 * One who may call a server and wants to take it from the others: sends all that a token allows, of each kind in turn,
 * as soon as its connections allow. Says `ready`, waits for a line, and at the end prints what it was answered.
 */

const [url = "", token = "", requests = "0", lanes = "1"] = process.argv.slice(2);

const SESSIONS = 50;
/** A call that goes on longer is left open, and its lane sends the next one. */
const PATIENCE_MS = 500;
const LARGE = "x".repeat(2 ** 20);

const agent = new Agent({ keepAlive: true });
const headers = {
  authorization: `Bearer ${token}`,
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
};

function tool(name: string, args: object): object {
  return { method: "tools/call", params: { name, arguments: args } };
}

const kinds: readonly ((session: string) => object)[] = [
  (session) => tool("create_session", { session_id: session }),
  (session) => tool("run_code", { session_id: session, code: "while True: pass" }),
  () => tool("list_sessions", {}),
  (session) => tool("run_code", { session_id: session, code: "while True: print('x' * 1000)" }),
  (session) => tool("run_code", { session_id: session, code: `# ${LARGE}` }),
  () => ({ method: "tools/list" }),
  (session) => tool("run_code", { session_id: session, code: "print('x\\n' * 1_000_000)" }),
  () => ({ method: "resources/list" }),
];

function send(id: number): Promise<string> {
  const message = kinds[id % kinds.length]?.(`s${Math.floor(id / kinds.length) % SESSIONS}`);
  return new Promise((resolve) => {
    const patience = setTimeout(() => resolve("left open"), PATIENCE_MS);
    const settle = (answer: string): void => {
      clearTimeout(patience);
      resolve(answer);
    };
    const sent = request(url, { method: "POST", headers, agent }, (response) => {
      response.resume();
      response.once("close", () => settle(String(response.statusCode)));
    });
    sent.once("error", () => settle("cut off"));
    sent.end(JSON.stringify({ jsonrpc: "2.0", id, ...message }));
  });
}

const answers: Record<string, number> = {};
let sent = 0;

async function sendOn(): Promise<void> {
  while (sent < Number(requests)) {
    const answer = await send(sent++);
    answers[answer] = (answers[answer] ?? 0) + 1;
  }
}

process.stdin.once("data", async () => {
  await Promise.all(Array.from({ length: Number(lanes) }, sendOn));
  process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit());
});
process.stdout.write("ready\n");
