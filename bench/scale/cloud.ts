import type { Clock, Random } from "./clock.ts";

/** E2B as far as a run needs it, in memory and by the clock of the simulation; it takes the place of `fetch`. */
export type Cloud = {
  readonly fetch: typeof fetch;
  readonly counts: Counts;
  /** Ends what is due. @returns Sandboxes that run now. */
  running(): number;
};

export type Counts = {
  creates: number;
  refused: number;
  connects: number;
  kills: number;
  executes: number;
  /** Seconds that sandboxes ran: what is paid for. */
  sandboxSeconds: number;
  mostRunning: number;
};

export type CloudOptions = {
  readonly clock: Clock;
  readonly random: Random;
  /** Sandboxes that the plan allows at once. */
  readonly maxRunning: number;
  readonly createsPerSecond: number;
};

/** Milliseconds; the order of what the service promises and of what a network takes. */
const LATENCY = { control: 60, create: 400, warmUp: 900, execute: 90 };
/** What a cell of an agent takes by itself. */
const MEAN_CELL_MS = 800;

type Sandbox = { readonly from: number; until: number };

export function createCloud(options: CloudOptions): Cloud {
  const { clock, random, maxRunning } = options;
  const sandboxes = new Map<string, Sandbox>();
  const counts = { creates: 0, refused: 0, connects: 0, kills: 0, executes: 0, sandboxSeconds: 0, mostRunning: 0 };
  let budget = options.createsPerSecond;
  let budgetAt = clock.now();
  let made = 0;

  const end = (id: string, sandbox: Sandbox, at: number): void => {
    counts.sandboxSeconds += (at - sandbox.from) / 1000;
    sandboxes.delete(id);
  };
  const running = (): number => {
    for (const [id, sandbox] of sandboxes) if (sandbox.until <= clock.now()) end(id, sandbox, sandbox.until);
    return sandboxes.size;
  };
  const mayCreate = (): boolean => {
    const passed = Math.max(0, clock.now() - budgetAt) / 1000;
    budget = Math.min(options.createsPerSecond, budget + passed * options.createsPerSecond);
    budgetAt = clock.now();
    if (budget < 1 || running() >= maxRunning) return false;
    budget -= 1;
    return true;
  };
  const create = (timeout: number): Response => {
    if (!mayCreate()) {
      counts.refused += 1;
      return json(429, { code: 429, message: "Rate limit exceeded: the plan's sandboxes are used up" });
    }
    clock.pass(LATENCY.create);
    counts.creates += 1;
    made += 1;
    const id = `i${String(made).padStart(19, "0")}`;
    sandboxes.set(id, { from: clock.now(), until: clock.now() + timeout * 1000 });
    counts.mostRunning = Math.max(counts.mostRunning, sandboxes.size);
    return json(201, answerOf(id));
  };
  const connect = (id: string, timeout: number): Response => {
    counts.connects += 1;
    running();
    const sandbox = sandboxes.get(id);
    if (!sandbox) return json(404, { code: 404, message: "Sandbox not found" });
    sandbox.until = Math.max(sandbox.until, clock.now() + timeout * 1000);
    return json(200, answerOf(id));
  };
  const kill = (id: string): Response => {
    counts.kills += 1;
    const sandbox = sandboxes.get(id);
    if (sandbox) end(id, sandbox, clock.now());
    return new Response(null, { status: sandbox ? 204 : 404 });
  };
  const execute = (id: string, code: string): Response => {
    counts.executes += 1;
    running();
    if (!sandboxes.has(id)) return json(502, { sandboxId: id, message: "The sandbox was not found", code: 502 });
    const isWarmUp = code.includes("_edge_repl_boot");
    clock.pass(isWarmUp ? LATENCY.warmUp : LATENCY.execute + random.waiting(MEAN_CELL_MS));
    return stream(isWarmUp ? readyOf(code) : resultOf(code));
  };

  const serve = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    const body = request.method === "POST" ? await request.text() : "";
    const given = (body === "" ? {} : JSON.parse(body)) as { timeout?: number; code?: string };
    if (pathname === "/execute") return execute(request.headers.get("e2b-sandbox-id") ?? "", given.code ?? "");
    clock.pass(LATENCY.control);
    if (pathname === "/v2/sandboxes") return create(given.timeout ?? 300);
    const [, id = "", action] = /^(?:\/v2)?\/sandboxes\/([^/]+)(?:\/(\w+))?$/.exec(pathname) ?? [];
    if (action === "connect") return connect(id, given.timeout ?? 300);
    if (request.method === "DELETE") return kill(id);
    throw new Error(`The cloud of the simulation knows no ${request.method} ${pathname}`);
  };
  return { fetch: serve as typeof fetch, counts, running };
}

function answerOf(sandboxID: string): object {
  const tokens = { envdAccessToken: `e-${sandboxID}`, trafficAccessToken: `t-${sandboxID}` };
  return {
    sandboxID,
    templateID: "code-interpreter-v1",
    clientID: "c",
    envdVersion: "0.6.13",
    domain: null,
    ...tokens,
  };
}

function json(status: number, value: object): Response {
  return Response.json(value, { status });
}

/** The runner's word that a new kernel is set up; its nonce lies in a text in a text. */
function readyOf(code: string): object {
  const cell = /nonce\W+([0-9a-f-]{36})/.exec(code)?.[1];
  const facts = { python: "3.12.0", executable: "/usr/bin/python3", user: "user", pid: 7, cwd: "/home/user" };
  return { cell, seq: 0, items: [{ type: "ready", ...facts, kernel: "k", deathNote: "/tmp/note" }] };
}

function resultOf(code: string): object {
  const cell = /\\"cell\\":\\"([0-9a-f-]{36})/.exec(code)?.[1];
  const value = { type: "execute_result", data: { "text/plain": "2" } };
  return { cell, seq: 0, items: [value, { type: "done", status: "ok", cwd: "/home/user", interrupted: false }] };
}

function stream(batch: object): Response {
  const lines = [
    { type: "result", extra: { "application/vnd.edge-python-repl+json": JSON.stringify(batch) } },
    { type: "end_of_execution" },
  ];
  return new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
}
