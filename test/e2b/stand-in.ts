import { execFileSync } from "node:child_process";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ControlOptions, serveControl } from "./control.ts";
import { answersInstead, type Fault, Faults } from "./faults.ts";
import { header, readJson, sendJson } from "./http.ts";
import type { KernelCommand } from "./kernel-process.ts";
import { serveData } from "./proxy.ts";
import { Sandbox, type SandboxSpec } from "./sandbox.ts";

/** One request that reached the service. */
export type LogEntry = {
  readonly plane: "control" | "data";
  readonly port: number;
  readonly method: string;
  readonly path: string;
  readonly sandboxId: string | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
};

export type StandInOptions = Partial<ControlOptions> & {
  readonly apiPort?: number;
  readonly dataPort?: number;
  /** The interpreter of kernels; with `ipython` it must have ipykernel and jupyter_client. */
  readonly kernel?: KernelCommand;
  readonly restartDelayMs?: number;
  readonly keepaliveMs?: number;
  /** Does the server notice a lost client and interrupt the cell? Templates differ. */
  readonly interruptOnDisconnect?: boolean;
};

export type StandIn = {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly apiKey: string;
  readonly sandboxes: ReadonlyMap<string, Sandbox>;
  log(): readonly LogEntry[];
  clearLog(): void;
  fault(fault: Fault): void;
  /** Kills all sandboxes, forgets faults and log. */
  reset(): void;
  close(): Promise<void>;
};

const API_KEY = "stand-in-key";

/** Starts a local stand-in of E2B: a control plane on one port, all sandboxes' ports behind another. */
export async function startStandIn(options: StandInOptions = {}): Promise<StandIn> {
  const sandboxes = new Map<string, Sandbox>();
  const faults = new Faults();
  let log: LogEntry[] = [];
  const control: ControlOptions = {
    apiKey: options.apiKey ?? API_KEY,
    templates: options.templates ?? ["code-interpreter-v1"],
    maxConcurrent: options.maxConcurrent ?? 20,
    maxTimeout: options.maxTimeout ?? 24 * 3600,
    domain: options.domain ?? null,
    pageLimit: options.pageLimit ?? 100,
  };
  const kernel = resolved(options.kernel ?? { python: process.env.STAND_IN_PYTHON ?? "python3", ipython: false });
  const registry = {
    sandboxes,
    create: (spec: SandboxSpec) => createSandbox(sandboxes, spec, { ...options, kernel }),
  };
  const reset = () => {
    for (const sandbox of [...sandboxes.values()]) sandbox.kill();
    faults.clear();
    log = [];
  };
  const note = (plane: "control" | "data", port: number, sandboxId: string | null, request: IncomingMessage) => {
    const path = new URL(request.url ?? "/", "http://any").pathname;
    const target = { plane, port, method: request.method ?? "", path };
    log.push({ ...target, sandboxId, headers: request.headers as Record<string, string> });
    return faults.take(target);
  };
  const api = createServer(
    guarded(async (request, response) => {
      if (await serveHooks({ faults, log: () => log, clearLog: () => (log = []), reset }, request, response)) return;
      if (await answersInstead(note("control", 0, null, request), request, response)) return;
      await serveControl(registry, control, request, response);
    }),
  );
  const data = createServer(guarded((request, response) => serveData(sandboxes, note, request, response)));
  const apiUrl = await listen(api, options.apiPort ?? 0);
  const sandboxUrl = await listen(data, options.dataPort ?? 0);
  return {
    apiUrl,
    sandboxUrl,
    apiKey: control.apiKey,
    sandboxes,
    log: () => log,
    clearLog: () => {
      log = [];
    },
    fault: (fault) => faults.add(fault),
    reset,
    close: async () => {
      reset();
      await Promise.all([closeServer(api), closeServer(data)]);
    },
  };
}

/** The executable itself: a name on PATH may be a slow script. */
function resolved({ python, ipython }: KernelCommand): KernelCommand {
  const found = execFileSync(python, ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
  return { python: found.trim(), ipython };
}

async function createSandbox(
  sandboxes: Map<string, Sandbox>,
  spec: SandboxSpec,
  options: StandInOptions & { readonly kernel: KernelCommand },
): Promise<Sandbox> {
  const sandbox = new Sandbox(spec, {
    kernel: options.kernel,
    restartDelayMs: options.restartDelayMs ?? 300,
    keepaliveMs: options.keepaliveMs ?? 5_000,
    interruptOnDisconnect: options.interruptOnDisconnect ?? true,
    onGone: (gone) => sandboxes.delete(gone.id),
  });
  sandboxes.set(sandbox.id, sandbox);
  await sandbox.boot();
  return sandbox;
}

type Hooks = { faults: Faults; log: () => readonly LogEntry[]; clearLog: () => void; reset: () => void };

/** The stand-in's own paths, which the real service does not have; true when it was one. */
async function serveHooks(hooks: Hooks, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const route = `${request.method} ${request.url}`;
  if (route === "GET /__log") sendJson(response, 200, hooks.log());
  else if (route === "DELETE /__log") {
    hooks.clearLog();
    sendJson(response, 204);
  } else if (route === "POST /__fault") {
    hooks.faults.add((await readJson(request)) as Fault);
    sendJson(response, 204);
  } else if (route === "POST /__reset") {
    hooks.reset();
    sendJson(response, 204);
  } else return false;
  return true;
}

function guarded(serve: (request: IncomingMessage, response: ServerResponse) => Promise<void>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    serve(request, response).catch((error: unknown) => {
      if (header(request, "x-debug") || process.env.STAND_IN_DEBUG) console.error(error);
      if (response.headersSent) response.destroy();
      else sendJson(response, 500, { code: 500, message: "The stand-in failed" });
    });
  };
}

function listen(server: Server, port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
