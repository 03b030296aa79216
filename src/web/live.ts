import type { SessionService } from "../sessions/service.ts";
import type { ActionContext } from "./actions.ts";
import { fingerprint } from "./fingerprint.ts";
import { factsHtml } from "./session-page.tsx";
import { viewSessions } from "./sessions-page.tsx";
import { type Item, readWindow, viewBlocks } from "./view.ts";
import type { Visit } from "./visit.ts";

/**
 * What a page that is open asks again and again. `items` are all that belongs on it, in order; those whose version the
 * page has already come without HTML.
 */
export type LiveReply = {
  /** Names this state; sent back by the page, which gets 204 while nothing changed. */
  readonly revision: string;
  readonly busy: boolean;
  readonly total: number;
  readonly items: readonly Item[];
  readonly facts?: string;
  readonly notice?: { readonly kind: string; readonly text: string };
};

export async function liveSession(visit: Visit, id: string, context: ActionContext): Promise<Response> {
  const { service, notices } = context;
  const { url, viewer } = visit;
  const { caller, canRun } = viewer;
  const pulse = await service.pulse(caller, id);
  const notice = notices.get(caller.owner, id);
  const revision = fingerprint(JSON.stringify([pulse.stamp, notice, canRun]));
  if (!pulse.unsettled && url.searchParams.get("revision") === revision) return unchanged();
  const from = Number(url.searchParams.get("from") ?? 0);
  const window = await readWindow(service, caller, id, { from: Number.isSafeInteger(from) ? from : 0 });
  return Response.json({
    revision,
    busy: pulse.info.busy,
    total: window.total,
    facts: factsHtml(pulse, window.total),
    items: viewBlocks(id, window.entries, canRun, knownTo(url)),
    ...(notice ? { notice } : {}),
  } satisfies LiveReply);
}

export async function liveSessions({ url, viewer }: Visit, service: SessionService): Promise<Response> {
  const sessions = await service.list(viewer.caller);
  const revision = fingerprint(JSON.stringify(sessions));
  if (url.searchParams.get("revision") === revision) return unchanged();
  return Response.json({
    revision,
    busy: sessions.some(({ busy }) => busy),
    total: sessions.length,
    items: viewSessions(sessions, knownTo(url)),
  } satisfies LiveReply);
}

/** The versions that a page has: `key:version` pairs, separated by commas. */
function knownTo(url: URL): Map<string, string> {
  const pairs = (url.searchParams.get("have") ?? "").split(",").map((pair) => pair.split(":"));
  return new Map(pairs.map(([key = "", version = ""]) => [key, version]));
}

function unchanged(): Response {
  return new Response(null, { status: 204 });
}
