import {
  type AuthInfo,
  createMcpHandler,
  isLegacyRequest,
  type McpServerFactory,
  PROTOCOL_VERSION_META_KEY,
  type ServerEventBus,
} from "@modelcontextprotocol/server";
import type { Scope } from "../auth/principal.ts";
import { readJsonRpc } from "./body.ts";
import { streamWhenSlow } from "./late-stream.ts";
import { createLegacySessions, type SessionMemory } from "./legacy.ts";
import { refuseLongNames } from "./long-names.ts";
import { TOOLS_BY_NAME } from "./registry.ts";
import { createSseEndpoint } from "./sse.ts";

export type EndpointOptions = {
  readonly factory: McpServerFactory;
  /** Bytes of a request body. */
  readonly maxBodyBytes: number;
  /** Milliseconds between signs of life on a silent stream. */
  readonly keepAliveMs: number;
  /** Calls that take a while answer by a stream: on runtimes where only a write shows that the client is gone. */
  readonly streamSlowCalls: boolean;
  readonly now: () => number;
  readonly onerror: (error: Error) => void;
  /** Where the factory's servers publish what changed, for the subscriptions of 2026 clients. */
  readonly bus?: ServerEventBus;
  /** Where sessions of 2025 clients outlive the process. */
  readonly memory?: SessionMemory;
};

/** Who asks: what the SDK's handlers get, and the refusal to send when the caller lacks a scope. */
export type Access = {
  readonly authInfo: AuthInfo;
  readonly scopes: readonly Scope[];
  readonly insufficientScope: (scope: Scope) => Response;
  /** Counts messages beyond the first of a body as requests; returns the refusal when they are too many. */
  readonly count: (further: number) => Response | undefined;
};

/** The MCP surface of the server: one endpoint for all revisions, and the two of HTTP+SSE. */
export type McpEndpoint = {
  mcp(request: Request, access: Access): Promise<Response>;
  sse(request: Request, access: Access): Promise<Response>;
  messages(request: Request, access: Access): Promise<Response>;
  close(): Promise<void>;
};

export function createMcpEndpoint(options: EndpointOptions): McpEndpoint {
  const { factory, keepAliveMs, onerror, maxBodyBytes } = options;
  const bus = options.bus ? { bus: options.bus } : {};
  const modern = createMcpHandler(factory, { legacy: "reject", keepAliveMs, onerror, ...bus });
  const legacy = createLegacySessions(factory, options);
  const sse = createSseEndpoint(factory, { keepAliveMs });

  return {
    async mcp(request, { authInfo, ...access }) {
      if (request.method !== "POST") return legacy.fetch(request, { authInfo });
      const body = await readJsonRpc(request, maxBodyBytes);
      if ("refusal" in body) return body.refusal;
      const tooLong = refuseLongNames(request, body.message);
      if (tooLong) return tooLong;
      const given = { parsedBody: body.message, authInfo };
      const refused = Array.isArray(body.message) ? access.count(body.message.length - 1) : undefined;
      if (refused) return refused;
      const missing = missingScope(body.message, access.scopes);
      if (missing) return access.insufficientScope(missing);
      const isLegacy = !namesRevision(body.message) && (await isLegacyRequest(request, body.message));
      if (isLegacy) return legacy.fetch(request, given);
      return options.streamSlowCalls
        ? streamWhenSlow(request, (same) => modern.fetch(same, given), keepAliveMs)
        : modern.fetch(request, given);
    },
    sse: (request, { authInfo }) => sse.open(request, authInfo),
    async messages(request, { authInfo, ...access }) {
      const body = await readJsonRpc(request, maxBodyBytes);
      if ("refusal" in body) return body.refusal;
      const missing = missingScope(body.message, access.scopes);
      return missing ? access.insufficientScope(missing) : sse.post(request, body.message, authInfo);
    },
    async close() {
      await Promise.all([modern.close(), legacy.close(), sse.close()]);
    },
  };
}

/** Does the message name its revision, as those of 2026 do? Then the SDK need not be asked twice what it is. */
function namesRevision(message: unknown): boolean {
  const { method, params } = message as { method?: unknown; params?: { _meta?: unknown } };
  const meta = params?._meta;
  return method !== "initialize" && typeof meta === "object" && meta !== null && PROTOCOL_VERSION_META_KEY in meta;
}

/** The scope that a message needs and the caller lacks. Everything but a tool call only reads. */
function missingScope(message: unknown, scopes: readonly Scope[]): Scope | undefined {
  if (scopes.length === 2) return undefined;
  const messages = Array.isArray(message) ? message : [message];
  return messages.map(neededScope).find((scope) => !scopes.includes(scope));
}

function neededScope(message: { method?: unknown; params?: { name?: unknown } }): Scope {
  if (message.method !== "tools/call") return "repl:read";
  return TOOLS_BY_NAME.get(String(message.params?.name))?.scope ?? "repl:run";
}
