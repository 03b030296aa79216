import {
  type AuthInfo,
  isInitializeRequest,
  type JSONRPCMessage,
  legacyStatelessFallback,
  type McpServerFactory,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { onEnd } from "../core/response-end.ts";
import { identityOf } from "./server.ts";

/** Sessions beyond this end the one that was unused for longest: the owner's own, before another's. */
const MAX_SESSIONS = 1000;
const MAX_PER_OWNER = 200;
/** A session nobody has used for this long ends. */
const IDLE_MS = 60 * 60 * 1000;

type LegacySession = {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly owner: string;
  /** Requests whose answers are open: an answer goes to whoever asked last under its id. */
  readonly open: Set<RequestId>;
  usedAt: number;
};

type RequestId = string | number;

/** Keeps what opened a session for longer than this process lives. An id is found by its own owner only. */
export type SessionMemory = {
  /** The `initialize` message that opened the session; undefined when there is none. */
  load(owner: string, id: string): Promise<unknown>;
  save(owner: string, id: string, initialize: unknown): Promise<void>;
  forget(owner: string, id: string): Promise<void>;
};

export type LegacyOptions = {
  readonly keepAliveMs: number;
  readonly onerror: (error: Error) => void;
  readonly now: () => number;
  readonly memory?: SessionMemory;
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
export function createLegacySessions(factory: McpServerFactory, options: LegacyOptions): LegacySessions {
  const { memory } = options;
  const sessions = new Map<string, LegacySession>();
  const reviving = new Map<string, Promise<void>>();
  const alone = legacyStatelessFallback(factory, options.onerror);

  /** @param revived Id of a session that is made again. */
  async function open(request: Request, { parsedBody, authInfo }: LegacyRequest, revived?: string): Promise<Response> {
    const { owner } = identityOf(authInfo).caller;
    prune(owner);
    const session: LegacySession = {
      owner,
      open: new Set(),
      usedAt: options.now(),
      transport: new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: () => revived ?? crypto.randomUUID(),
        keepAliveMs: options.keepAliveMs,
        async onsessioninitialized(id) {
          sessions.set(id, session);
          if (revived === undefined) await remember(session.owner, id, parsedBody);
        },
        async onsessionclosed(id) {
          sessions.delete(id);
          await memory?.forget(session.owner, id).catch(options.onerror);
        },
      }),
    };
    const server = await factory({ era: "legacy", ...(authInfo ? { authInfo } : {}) });
    await server.connect(session.transport);
    return session.transport.handleRequest(request, { parsedBody, ...(authInfo ? { authInfo } : {}) });
  }

  /** Map order is use order: the least recently used come first. */
  function prune(owner: string): void {
    const end = ([id, session]: readonly [string, LegacySession]): void => {
      sessions.delete(id);
      session.transport.close().catch(options.onerror);
    };
    for (const entry of sessions) {
      if (options.now() - entry[1].usedAt <= IDLE_MS) break;
      if (entry[1].open.size === 0) end(entry);
    }
    const own = [...sessions].filter(([, session]) => session.owner === owner);
    const tooMany = own.length >= MAX_PER_OWNER ? own : sessions.size >= MAX_SESSIONS ? [...sessions] : [];
    const [oldest] = tooMany;
    // Its end would cancel what it runs; one that waits for nothing goes first.
    if (oldest) end(tooMany.find(([, session]) => session.open.size === 0) ?? oldest);
  }

  /** Makes a session again that an earlier process had, by the message that opened it. */
  async function revive(id: string, url: string, authInfo: AuthInfo | undefined): Promise<void> {
    const { owner } = identityOf(authInfo).caller;
    const parsedBody = await memory?.load(owner, id).catch(options.onerror);
    if (parsedBody === undefined) return;
    const headers = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const request = new Request(url, { method: "POST", headers });
    const answer = await open(request, { parsedBody, ...(authInfo ? { authInfo } : {}) }, id);
    await answer.text(); // It is complete once the server has taken the message in.
  }

  /** A store that is down costs the session its long life, not the client its session. */
  async function remember(owner: string, id: string, initialize: unknown): Promise<void> {
    await memory?.save(owner, id, initialize).catch(options.onerror);
  }

  function reviveOnce(id: string, url: string, authInfo: AuthInfo | undefined): Promise<void> {
    const present = reviving.get(id) ?? revive(id, url, authInfo).finally(() => reviving.delete(id));
    reviving.set(id, present);
    return present;
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
      if (memory && !sessions.has(id)) await reviveOnce(id, request.url, given.authInfo);
      const session = find(id, given.authInfo);
      if (!session) return unknownSession();
      const ids = requestIds(given.parsedBody);
      const taken = ids.find((id) => session.open.has(id));
      if (taken !== undefined) return idInUse(taken);
      for (const id of ids) session.open.add(id);
      const ended = (): void => {
        for (const id of ids) session.open.delete(id);
      };
      const response = await session.transport.handleRequest(request, given).catch((error: unknown) => {
        ended();
        throw error;
      });
      const cancelled = cancelledRequest(given.parsedBody);
      // Nothing answers a cancelled request, so its stream would stay open.
      if (cancelled !== undefined) session.transport.closeSSEStream(cancelled);
      if (ids.length > 0 && response.body) return cancelWhenLost(response, session.transport, ids, ended);
      ended();
      return response;
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

function idInUse(id: RequestId): Response {
  const message = "The request before with this id has not been answered yet; give each request an id of its own";
  return Response.json({ jsonrpc: "2.0", id, error: { code: -32600, message } }, { status: 400 });
}

/** Ids of the requests in a body, which is a message or a batch of them. */
function requestIds(body: unknown): RequestId[] {
  const messages: readonly { id?: RequestId; method?: unknown }[] = Array.isArray(body) ? body : [body ?? {}];
  return messages.flatMap(({ id, method }) => (id === undefined || method === undefined ? [] : [id]));
}

/** The request that a message cancels. */
function cancelledRequest(body: unknown): RequestId | undefined {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { requestId?: RequestId } };
  return method === "notifications/cancelled" ? params?.requestId : undefined;
}

/** A client that drops the connection of a call is taken to have cancelled it. */
function cancelWhenLost(
  response: Response,
  transport: WebStandardStreamableHTTPServerTransport,
  ids: readonly RequestId[],
  ended: () => void,
): Response {
  const cancel = (requestId: RequestId): void => {
    const params = { requestId, reason: "The client closed the connection" };
    const message: JSONRPCMessage = { jsonrpc: "2.0", method: "notifications/cancelled", params };
    transport.onmessage?.(message);
  };
  return onEnd(response, { cancelled: () => ids.forEach(cancel), ended });
}
