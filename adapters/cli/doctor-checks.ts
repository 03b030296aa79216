import { isLoopbackHost } from "../../src/auth/safe-url.ts";
import type { Config } from "../../src/config.ts";
import type { DoctorProbes, Env } from "./doctor-probes.ts";

/** `skip`: not needed as things are set up. Only `fail` makes the whole fail. */
export type CheckStatus = "ok" | "warn" | "fail" | "skip";

/** What was found, and what to do about it where something is to be done. */
export type Finding = { readonly status: CheckStatus; readonly message: string; readonly fix?: string };

export type CheckInput = { readonly env: Env; readonly config: Config; readonly probes: DoctorProbes };
export type Check = { readonly id: string; run(input: CheckInput): Promise<readonly Finding[]> };

const OLDEST_NODE: readonly [number, number, number] = [20, 18, 1];
const NETWORK_MS = 5000;

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): string {
  const own = error instanceof Error && "code" in error ? error.code : undefined;
  const cause = error instanceof Error ? error.cause : undefined;
  const inner = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return String(own ?? inner ?? messageOf(error));
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split(".").map((part) => Number.parseInt(part, 10));
  for (const [index, wanted] of least.entries()) {
    const part = parts[index] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

const runtime: Check = {
  id: "runtime",
  async run({ probes }) {
    const { name, version } = probes.runtime;
    const message = `${name} ${version}`;
    if (name !== "Node" || isAtLeast(version, OLDEST_NODE)) return [{ status: "ok", message }];
    return [
      { status: "fail", message: `${message} is too old`, fix: `Install Node ${OLDEST_NODE.join(".")} or newer` },
    ];
  },
};

const python: Check = {
  id: "python",
  async run({ config, env, probes }) {
    if (config.REPL_BACKEND === "e2b") return [{ status: "skip", message: "Code runs in E2B, not on this machine" }];
    try {
      const found = await probes.findPython({ ...env, REPL_PYTHON: config.REPL_PYTHON });
      return [{ status: "ok", message: `Python ${found.version} (${found.executable})` }, installer(found)];
    } catch (error) {
      const [what = "", ...fixes] = messageOf(error).split("; ");
      return [{ status: "fail", message: what, ...(fixes.length > 0 && { fix: capital(fixes.join("; ")) }) }];
    }
  },
};

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function installer(found: Awaited<ReturnType<DoctorProbes["findPython"]>>): Finding {
  const where = found.externallyManaged ? "into a virtual environment of this server" : "into this Python";
  if (found.hasPip) return { status: "ok", message: `pip is there; install_package installs ${where}` };
  if (found.uv !== undefined)
    return { status: "ok", message: `uv is there (no pip); install_package installs ${where}` };
  return {
    status: "warn",
    message: "Neither pip nor uv was found, so install_package cannot work",
    fix: `Run ${found.executable} -m ensurepip, or install your system's python3-pip package, or uv`,
  };
}

const store: Check = {
  id: "store",
  async run({ config, env, probes }) {
    try {
      const where = await within(NETWORK_MS, probes.tryStore(config.REPL_STORAGE, env));
      const lost = config.REPL_STORAGE === "memory" ? "; it is lost then" : "";
      return [{ status: "ok", message: `History can be kept in ${where}${lost}` }];
    } catch (error) {
      const fix =
        "Set REPL_STORAGE to memory, fs:FOLDER, sqlite:FILE, redis://HOST or deno-kv:, or make this one usable";
      return [{ status: "fail", message: messageOf(error), fix }];
    }
  },
};

/** @throws Error when `work` takes longer; the work is not stopped. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The store did not answer in ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const port: Check = {
  id: "port",
  async run({ config, probes }) {
    const { MCP_HOST: host, MCP_PORT: number, MCP_TRANSPORT: transport } = config;
    if (number === 0) return [{ status: "ok", message: "MCP_PORT=0: the system picks a free port at each start" }];
    try {
      await probes.tryListen(host, number);
      return [{ status: "ok", message: `Port ${number} of ${host} is free` }];
    } catch (error) {
      const status = transport === "stdio" ? "warn" : "fail";
      const code = codeOf(error);
      if (code !== "EADDRINUSE") {
        const fix = code === "EACCES" ? "Set MCP_PORT to one above 1023" : "Set MCP_HOST to an address of this machine";
        return [{ status, message: `Cannot listen on ${host}:${number} (${code})`, fix }];
      }
      const own = await isThisServer(host, number, probes);
      const message = `Port ${number} of ${host} is taken${own ? ", by a running edge-python-repl it seems" : ""}`;
      return [{ status: own ? "warn" : status, message, fix: "Set MCP_PORT to a free one to start another server" }];
    }
  },
};

async function isThisServer(host: string, number: number, probes: DoctorProbes): Promise<boolean> {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host;
  try {
    const url = `http://${name.includes(":") ? `[${name}]` : name}:${number}/healthz`;
    const response = await probes.fetch(url, { signal: AbortSignal.timeout(1000), redirect: "error" });
    const body: unknown = await response.json();
    return typeof body === "object" && body !== null && "version" in body && "status" in body;
  } catch {
    return false; // Something else holds the port, or it does not answer in time.
  }
}

const access: Check = {
  id: "access",
  async run({ config, probes }) {
    const { auth, MCP_HOST: host } = config;
    if (auth.mode === "oauth") return [{ status: "ok", message: `Callers need a token of ${auth.issuer}` }];
    if (auth.mode === "token") {
      const expired = auth.tokens.filter(({ expiresAt }) => expiresAt !== undefined && expiresAt <= probes.now());
      const count = auth.tokens.length - expired.length;
      const message = `Callers need one of ${count} valid token${count === 1 ? "" : "s"}`;
      if (expired.length === 0) return [{ status: "ok", message }];
      const names = expired.map((token) => token.name).join(", ");
      const fix = `Take ${names} out of REPL_TOKENS; edge-python-repl token new NAME makes a new one`;
      return [{ status: count === 0 ? "fail" : "warn", message: `${message}; expired: ${names}`, fix }];
    }
    if (isLoopbackHost(host))
      return [{ status: "ok", message: "No token needed; only programs of this machine can connect" }];
    return [
      {
        status: config.REPL_BACKEND === "e2b" ? "warn" : "fail",
        message: `MCP_HOST=${host} lets others on the network in, and REPL_AUTH is none`,
        fix: "Set REPL_AUTH=token and REPL_TOKENS (edge-python-repl token new NAME makes one), or MCP_HOST=127.0.0.1",
      },
    ];
  },
};

const e2b: Check = {
  id: "e2b",
  async run({ config, env, probes }) {
    if (config.E2B_API_KEY === undefined) {
      if (config.REPL_BACKEND !== "e2b")
        return [{ status: "skip", message: "E2B_API_KEY is not set; only REPL_BACKEND=e2b needs it" }];
      return [
        {
          status: "fail",
          message: "REPL_BACKEND is e2b, but E2B_API_KEY is not set",
          fix: "Set E2B_API_KEY to the API key of your E2B team",
        },
      ];
    }
    if (env.E2B_DEBUG?.toLowerCase() === "true") {
      return [
        { status: "fail", message: "E2B_DEBUG=true sends all to this machine instead of E2B", fix: "Unset E2B_DEBUG" },
      ];
    }
    return [await controlPlane(config, config.E2B_API_KEY, probes)];
  },
};

async function controlPlane(config: Config, key: string, probes: DoctorProbes): Promise<Finding> {
  const base = config.E2B_API_URL ?? `https://api.${config.E2B_DOMAIN ?? "e2b.app"}`;
  if (!/^[\x21-\x7e]+$/.test(key)) {
    return {
      status: "fail",
      message: "E2B_API_KEY holds characters that no key has",
      fix: "Copy the key again, without quotes or blanks",
    };
  }
  try {
    const headers = { "X-API-KEY": key, Accept: "application/json" };
    const url = `${base.replace(/\/$/, "")}/v2/sandboxes?limit=1`;
    const response = await probes.fetch(url, { headers, signal: AbortSignal.timeout(NETWORK_MS), redirect: "error" });
    await response.body?.cancel();
    return answered(response.status, new URL(base).host);
  } catch (error) {
    const slow = error instanceof Error && error.name === "TimeoutError";
    const why = slow ? `no answer in ${NETWORK_MS / 1000} s` : codeOf(error);
    const message = `E2B at ${URL.canParse(base) ? new URL(base).host : "E2B_API_URL"} cannot be reached (${why})`;
    return { status: "fail", message, fix: "Check the network, and E2B_DOMAIN or E2B_API_URL where they are set" };
  }
}

function answered(status: number, host: string): Finding {
  if (status >= 200 && status < 300) return { status: "ok", message: `E2B at ${host} answers and takes the key` };
  if (status === 401 || status === 403) {
    return {
      status: "fail",
      message: `E2B at ${host} refuses the key (${status})`,
      fix: "Make a new key in the E2B dashboard and set E2B_API_KEY",
    };
  }
  if (status === 429)
    return {
      status: "warn",
      message: `E2B at ${host} says that its rate limit is reached`,
      fix: "Try again in a minute",
    };
  return {
    status: "fail",
    message: `E2B at ${host} answers with status ${status}`,
    fix: "Try again later; check E2B's status page",
  };
}

export const CHECKS: readonly Check[] = [runtime, python, store, port, access, e2b];
