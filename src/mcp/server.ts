import {
  type AuthInfo,
  type CallToolResult,
  type McpServerFactory,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { Scope } from "../auth/principal.ts";
import { AppError, toAppError } from "../core/errors.ts";
import { shorten } from "../core/shorten.ts";
import type { Caller } from "../sessions/context.ts";
import type { SessionService } from "../sessions/service.ts";
import { VERSION } from "../version.ts";
import { auditCall, type Call, logCause } from "./audit.ts";
import { TOOL_LIST, TOOLS_BY_NAME } from "./registry.ts";
import { listResources, RESOURCE_TEMPLATES, readResource } from "./resources.ts";
import { errorReply, type ReplySettings, type Tool, type ToolContext } from "./tool.ts";

export const SERVER_INFO = { name: "edge-python-repl", title: "Python REPL", version: VERSION };

const INSTRUCTIONS =
  "Stateful Python: create_session once, then run_code as often as needed; variables stay. " +
  "When a reply says that variables are lost, rerun_code runs the history again. " +
  "Missing packages come with install_package.";

const CAPABILITIES = { tools: {}, resources: {} };

/** Nothing in these lists depends on who asks, so clients may keep them. */
const CACHE_HINTS = {
  "tools/list": { ttlMs: 3_600_000, cacheScope: "public" },
  "resources/templates/list": { ttlMs: 3_600_000, cacheScope: "public" },
  "server/discover": { ttlMs: 3_600_000, cacheScope: "public" },
} as const;

/** What a request brings along, carried through the SDK in `authInfo.extra`. */
export type RequestIdentity = {
  readonly caller: Caller;
  readonly scopes: readonly Scope[];
  /** Keeps the runtime awake until the work has ended. */
  readonly defer?: (work: Promise<unknown>) => void;
};

export const LOCAL: RequestIdentity = { caller: { owner: "local" }, scopes: ["repl:read", "repl:run"] };

export type McpDependencies = {
  readonly service: SessionService;
  readonly settings: ReplySettings;
  readonly log: (event: string, detail?: Readonly<Record<string, unknown>>) => void;
  /** Put the code that runs into the log, for finding faults. */
  readonly logCode?: boolean;
  /** Who calls where a connection brings no identity, as on stdio; over HTTP there is none, and such a call fails. */
  readonly everyone?: RequestIdentity;
};

/**
 * A low-level server per request or connection, over tables built once.
 * High-level `McpServer` would convert every schema again for each request.
 */
export function createServerFactory(dependencies: McpDependencies): McpServerFactory {
  return ({ authInfo }) => {
    // Asked for each request: within a connection the caller's token, its scopes and `defer` change.
    const who = ({ http }: ServerContext): RequestIdentity =>
      identityOf(http?.authInfo ?? authInfo, dependencies.everyone);
    const { service } = dependencies;
    const server = new Server(SERVER_INFO, {
      capabilities: CAPABILITIES,
      instructions: INSTRUCTIONS,
      cacheHints: CACHE_HINTS,
    });
    server.setRequestHandler("tools/list", () => ({ tools: TOOL_LIST }));
    server.setRequestHandler("tools/call", ({ params }, context) => {
      const identity = who(context);
      const work = callTool(dependencies, identity, params.name, params.arguments, context);
      identity.defer?.(work.catch(() => undefined));
      return work;
    });
    server.setRequestHandler("resources/list", async (_request, context) => ({
      resources: await listResources(service, who(context).caller),
    }));
    server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: RESOURCE_TEMPLATES }));
    server.setRequestHandler("resources/read", ({ params }, context) =>
      readResource(service, who(context).caller, params.uri),
    );
    return server;
  };
}

/** @throws Error when the request carries no identity: a route that forgot it must not open the door. */
export function identityOf(authInfo: AuthInfo | undefined, everyone?: RequestIdentity): RequestIdentity {
  const identity = (authInfo?.extra?.identity as RequestIdentity | undefined) ?? everyone;
  if (!identity) throw new Error("The request carries no identity");
  return identity;
}

async function callTool(
  { service, settings, log, logCode = false }: McpDependencies,
  { caller, scopes }: RequestIdentity,
  name: string,
  args: unknown,
  context: ServerContext,
): Promise<CallToolResult> {
  const call: Call = { caller, tool: name, args, startedAt: performance.now() };
  const tool = TOOLS_BY_NAME.get(name);
  if (!tool) {
    auditCall(log, call, "unknown tool", logCode);
    const known = [...TOOLS_BY_NAME.keys()].join(", ");
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool ${shorten(name)}; the tools are ${known}`);
  }
  const { signal } = context.mcpReq;
  const reply = await answer(tool, scopes, args, {
    caller,
    service,
    settings,
    signal,
    progress: progressOf(context),
  }).catch((error: unknown) => {
    const told = toAppError(error);
    logCause(log, call, told, error);
    return errorReply(told);
  });
  auditCall(log, call, reply, logCode);
  return reply;
}

async function answer(
  tool: Tool,
  scopes: readonly Scope[],
  args: unknown,
  context: ToolContext,
): Promise<CallToolResult> {
  if (!scopes.includes(tool.scope)) {
    throw new AppError("FORBIDDEN", `${tool.name} needs the scope ${tool.scope}, which your token lacks`);
  }
  return tool.call(args, context);
}

/** Sends `notifications/progress` for clients that gave a token; a client that is gone is no error. */
function progressOf({ mcpReq }: ServerContext): ToolContext["progress"] {
  const progressToken = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  let progress = 0;
  return (message) => {
    progress += 1;
    const params = { progressToken, progress, message };
    mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
  };
}
