import type { IncomingMessage, ServerResponse } from "node:http";
import { header, readJson, sendJson } from "./http.ts";
import type { Sandbox, SandboxSpec } from "./sandbox.ts";

export type ControlOptions = {
  readonly apiKey: string;
  readonly templates: readonly string[];
  readonly maxConcurrent: number;
  /** Seconds; a longer timeout is refused. */
  readonly maxTimeout: number;
  readonly domain: string | null;
  /** Most entries of one page of a list. */
  readonly pageLimit: number;
};

export type Registry = {
  readonly sandboxes: Map<string, Sandbox>;
  create(spec: SandboxSpec): Promise<Sandbox>;
};

type Call = { request: IncomingMessage; response: ServerResponse; url: URL; parts: string[] };

/** Serves E2B's control plane: sandboxes and their life. */
export async function serveControl(
  registry: Registry,
  options: ControlOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const url = new URL(request.url ?? "/", "http://control");
  if (url.pathname === "/health") return sendJson(response, 200, {});
  if (header(request, "x-api-key") !== options.apiKey)
    return fail(response, 401, "Invalid API key, please visit https://e2b.dev/docs/api-key for more information.");
  const parts = url.pathname.split("/").filter(Boolean);
  const call = { request, response, url, parts: parts[0] === "v2" ? parts.slice(1) : parts };
  if (call.parts[0] !== "sandboxes") return fail(response, 404, "no matching operation was found");
  if (call.parts.length === 1)
    return request.method === "POST" ? create(registry, options, call) : list(registry, options, call);
  return serveSandbox(registry, options, call);
}

function fail(response: ServerResponse, code: number, message: string): void {
  sendJson(response, code, { code, message });
}

async function create(registry: Registry, options: ControlOptions, { request, response }: Call): Promise<void> {
  const body = await readJson(request);
  const template = String(body.templateID);
  const timeout = Number(body.timeout ?? 300);
  if (!options.templates.includes(template)) return fail(response, 404, `template '${template}' not found`);
  if (timeout > options.maxTimeout)
    return fail(response, 400, `Timeout cannot be greater than ${options.maxTimeout / 3600} hours`);
  const running = [...registry.sandboxes.values()].filter((sandbox) => sandbox.state === "running").length;
  if (running >= options.maxConcurrent) {
    return fail(
      response,
      429,
      `you have reached the maximum number of concurrent E2B sandboxes (${options.maxConcurrent})`,
    );
  }
  const network = (body.network ?? {}) as Record<string, unknown>;
  const resume = (body.autoResume ?? {}) as Record<string, unknown>;
  const sandbox = await registry.create({
    templateId: template,
    timeout,
    metadata: (body.metadata ?? {}) as Record<string, string>,
    envVars: (body.envVars ?? {}) as Record<string, string>,
    allowPublicTraffic: network.allowPublicTraffic !== false,
    allowInternetAccess: body.allow_internet_access !== false,
    autoPause: body.autoPause === true,
    autoResume: resume.enabled === true,
  });
  sendJson(response, 201, connection(sandbox, options));
}

function connection(sandbox: Sandbox, options: ControlOptions): Record<string, unknown> {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.spec.templateId,
    clientID: "stand-in",
    envdVersion: "0.6.13",
    envdAccessToken: sandbox.envdToken,
    trafficAccessToken: sandbox.trafficToken,
    domain: options.domain,
  };
}

function detail(sandbox: Sandbox): Record<string, unknown> {
  return {
    sandboxID: sandbox.id,
    templateID: sandbox.spec.templateId,
    clientID: "stand-in",
    startedAt: new Date(sandbox.startedAt).toISOString(),
    endAt: new Date(sandbox.endAt).toISOString(),
    cpuCount: 2,
    memoryMB: 512,
    diskSizeMB: 1024,
    envdVersion: "0.6.13",
    state: sandbox.state,
    metadata: sandbox.spec.metadata,
  };
}

function list(registry: Registry, options: ControlOptions, { response, url }: Call): void {
  const wanted = [...new URLSearchParams(url.searchParams.get("metadata") ?? "")].map(
    ([key, value]) => [decodeURIComponent(key), decodeURIComponent(value)] as const,
  );
  const states = (url.searchParams.get("state") ?? "running,paused").split(",");
  const limit = Math.min(options.pageLimit, Number(url.searchParams.get("limit") ?? 100));
  const from = Number(url.searchParams.get("nextToken") ?? 0);
  const found = [...registry.sandboxes.values()]
    .filter((sandbox) => states.includes(sandbox.state))
    .filter((sandbox) => wanted.every(([key, value]) => sandbox.spec.metadata[key] === value));
  const next = from + limit < found.length ? { "x-next-token": String(from + limit) } : {};
  sendJson(response, 200, found.slice(from, from + limit).map(detail), next as Record<string, string>);
}

async function serveSandbox(registry: Registry, options: ControlOptions, call: Call): Promise<void> {
  const { request, response, parts } = call;
  const id = parts[1] ?? "";
  const sandbox = registry.sandboxes.get(id);
  if (!sandbox) return fail(response, 404, `Sandbox "${id}" doesn't exist or you don't have access to it`);
  const route = `${request.method} ${parts[2] ?? ""}`;
  if (route === "DELETE ") {
    sandbox.kill();
    return sendJson(response, 204);
  }
  if (route === "GET ") return sendJson(response, 200, detail(sandbox));
  if (route === "POST connect" || route === "POST resume") return connect(sandbox, options, call);
  if (route === "POST timeout" || route === "POST refreshes") return setTimeout_(sandbox, call);
  if (route === "POST pause") {
    if (sandbox.state === "paused") return fail(response, 409, `Sandbox ${id} is already paused`);
    sandbox.pause();
    return sendJson(response, 204);
  }
  fail(response, 404, "no matching operation was found");
}

async function connect(sandbox: Sandbox, options: ControlOptions, { request, response }: Call): Promise<void> {
  const seconds = Number((await readJson(request)).timeout ?? 300);
  if (seconds > options.maxTimeout)
    return fail(response, 400, `Timeout cannot be greater than ${options.maxTimeout / 3600} hours`);
  const paused = sandbox.state === "paused";
  if (paused) sandbox.resume(seconds);
  else if (Date.now() + seconds * 1000 > sandbox.endAt) sandbox.setTimeout(seconds);
  sendJson(response, paused ? 201 : 200, connection(sandbox, options));
}

async function setTimeout_(sandbox: Sandbox, { request, response }: Call): Promise<void> {
  const body = await readJson(request);
  if (sandbox.state !== "running") return fail(response, 404, `Sandbox "${sandbox.id}" is not running`);
  sandbox.setTimeout(Number(body.timeout ?? body.duration ?? 300));
  sendJson(response, 204);
}
