import {
  type AuthInfo,
  isInitializeRequest,
  type JSONRPCMessage,
  legacyStatelessFallback,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { identityOf } from "./server.ts";
import { onCancel } from "./streams.ts";

/** Sessions beyond this end the one that was unused for longest. */
const MAX_SESSIONS = 1000;
/** A session nobody has used for this long ends. */
const IDLE_MS = 60 * 60 * 1000;

type LegacySession = {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly owner: string;
  usedAt: number;
};

type LegacyRequest = { readonly parsedBody?: unknown; readonly authInfo?: AuthInfo };

export type LegacySessions = {
  fetch(request: Request, given: LegacyRequest): Promise<Response>;
  close(): Promise<void>;
};

/**
 * Serves clients of the 2025 revisions. Each `initialize` makes a session with a server of its own, because only so can a
 * cancel, which comes as a request of its own, reach the call it means. A request without a session is served alone.
 */
export function createLegacySessions(
  factory: McpServerFactory,
  options: { readonly keepAliveMs: number; readonly onerror: (error: Error) => void; readonly now: () => number },
): LegacySessions {
  const sessions = new Map<string, LegacySession>();
  const alone = legacyStatelessFallback(factory, options.onerror);

  async function open(request: Request, { parsedBody, authInfo }: LegacyRequest): Promise<Response> {
    prune();
    const session: LegacySession = {
      owner: identityOf(authInfo).caller.owner,
      usedAt: options.now(),
      transport: new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => crypto.randomUUID(),
        keepAliveMs: options.keepAliveMs,
        onsessioninitialized: (id) => void sessions.set(id, session),
        onsessionclosed: (id) => void sessions.delete(id),
      }),
    };
    const server = await factory({ era: "legacy", ...(authInfo ? { authInfo } : {}) });
    await server.connect(session.transport);
    return session.transport.handleRequest(request, { parsedBody, ...(authInfo ? { authInfo } : {}) });
  }

  /** Map order is use order: the least recently used come first. */
  function prune(): void {
    for (const [id, session] of sessions) {
      const idle = options.now() - session.usedAt > IDLE_MS;
      if (!idle && sessions.size < MAX_SESSIONS) return;
      sessions.delete(id);
      session.transport.close().catch(options.onerror);
    }
  }

  function find(id: string, authInfo: AuthInfo | undefined): LegacySession | undefined {
    const session = sessions.get(id);
    if (!session || session.owner !== identityOf(authInfo).caller.owner) return undefined;
    session.usedAt = options.now();
    sessions.delete(id);
    sessions.set(id, session);
    return session;
  }

  return {
    async fetch(request, given) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        return isInitializeRequest(given.parsedBody) ? open(request, given) : alone(request, given);
      }
      const session = find(id, given.authInfo);
      if (!session) return unknownSession();
      const response = await session.transport.handleRequest(request, given);
      const cancelled = cancelledRequest(given.parsedBody);
      // Nothing answers a cancelled request, so its stream would stay open.
      if (cancelled !== undefined) session.transport.closeSSEStream(cancelled);
      return request.method === "POST" ? cancelWhenLost(response, session.transport, given.parsedBody) : response;
    },
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
      sessions.clear();
    },
  };
}

/** The specification's answer, on which a client starts anew. */
function unknownSession(): Response {
  const error = { code: -32001, message: "Session not found; send initialize to start a new one" };
  return Response.json({ jsonrpc: "2.0", id: null, error }, { status: 404 });
}

/** The request that a message cancels. */
function cancelledRequest(body: unknown): string | number | undefined {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { requestId?: string | number } };
  return method === "notifications/cancelled" ? params?.requestId : undefined;
}

/** A client that drops the connection of a call is taken to have cancelled it. */
function cancelWhenLost(
  response: Response,
  transport: WebStandardStreamableHTTPServerTransport,
  body: unknown,
): Response {
  const requestId = (body as { id?: string | number } | undefined)?.id;
  if (requestId === undefined || !response.body) return response;
  const cancelled: JSONRPCMessage = {
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId, reason: "The client closed the connection" },
  };
  return onCancel(response, () => transport.onmessage?.(cancelled));
}
