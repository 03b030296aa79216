import { type Context, Hono } from "hono";
import type { Scope } from "../auth/principal.ts";
import { type AppError, toAppError } from "../core/errors.ts";
import type { SessionService } from "../sessions/service.ts";
import { type ActionContext, act, BLOCK_ACTIONS, SESSION_ACTIONS } from "./actions.ts";
import { exportResponse, findBlock, outputResponse, pictureResponse } from "./documents.ts";
import { liveSession, liveSessions } from "./live.ts";
import { Notices } from "./notices.ts";
import { redirect, wantsPage } from "./respond.ts";
import { deletePage, sessionPage } from "./session-page.tsx";
import { sessionsPage } from "./sessions-page.tsx";
import { readWindow, viewBlocks } from "./view.ts";
import { failed, receive, statusOf, type Visit, type VisitOptions } from "./visit.ts";

export type PagesOptions = VisitOptions & { readonly service: SessionService };

export type PageBindings = { Bindings: { defer: ((work: Promise<unknown>) => void) | undefined } };

type Serve = (visit: Visit, params: Readonly<Record<string, string>>) => Promise<Response>;

type Route = (path: string, handler: Serve) => void;

/** The notebook pages, as routes of the app. */
export function createPages(options: PagesOptions): Hono<PageBindings> {
  const { service, log } = options;
  const pages = new Hono<PageBindings>({ strict: false });
  const context: ActionContext = { service, notices: new Notices(), log };
  const serve = (scope: Scope, handler: Serve) => (c: Context<PageBindings>) =>
    receive(c.req.raw, scope, options, (visit) => handler({ ...visit, defer: c.env?.defer }, c.req.param()));
  const get: Route = (path, handler) => pages.get(path, serve("repl:read", handler));
  const post: Route = (path, handler) => pages.post(path, serve("repl:run", handler));
  // The door answers these itself; who is admitted comes from where they lead.
  const home = serve("repl:read", async () => redirect("/"));
  for (const path of ["/assets/:file", "/login", "/logout"]) pages.all(path, home);
  get("/", async ({ viewer }) => sessionsPage({ viewer, sessions: await service.list(viewer.caller) }));
  get("/live", (visit) => liveSessions(visit, service));
  post("/sessions", (visit) => createSession(visit, context));
  get("/s/:id", (visit, { id = "" }) => showSession(visit, id, context));
  get("/s/:id/live", (visit, { id = "" }) => liveSession(visit, id, context));
  addDocuments(get, service);
  addActions(post, context);
  addRemoval(get, post, context);
  // Addresses of forms that somebody loads again.
  get("/s/:id/:action", async (_visit, { id = "" }) => redirect(`/s/${encodeURIComponent(id)}`));
  return pages;
}

function addDocuments(get: Route, service: SessionService): void {
  get("/s/:id/export/:format", ({ viewer }, { id = "", format = "" }) =>
    exportResponse(service, viewer.caller, id, format),
  );
  get("/s/:id/blocks/:sequence/output", async ({ viewer }, { id = "", sequence }) =>
    outputResponse(await findBlock(service, viewer.caller, id, Number(sequence))),
  );
  get("/s/:id/blocks/:sequence/pictures/:position", async ({ viewer }, { id = "", sequence, position }) =>
    pictureResponse(await findBlock(service, viewer.caller, id, Number(sequence)), Number(position)),
  );
}

function addActions(post: Route, context: ActionContext): void {
  for (const [name, action] of Object.entries(SESSION_ACTIONS)) {
    post(`/s/:id/${name}`, (visit, { id = "" }) => {
      const next = name === "run" ? `/s/${id}#new` : `/s/${id}`;
      const retry = name === "run" ? { retry: retryRun(visit, id, context) } : {};
      return act(visit, id, context, action(visit, id, context), { next, ...retry });
    });
  }
  for (const [name, action] of Object.entries(BLOCK_ACTIONS)) {
    post(`/s/:id/blocks/:sequence/${name}`, (visit, { id = "", sequence }) => {
      const next = name === "run-again" ? `/s/${id}#new` : `/s/${id}`;
      return act(visit, id, context, action(visit, id, Number(sequence), context), { next });
    });
  }
}

function addRemoval(get: Route, post: Route, { service, notices }: ActionContext): void {
  get("/s/:id/delete", async ({ viewer }, { id = "" }) => {
    const { info } = await service.pulse(viewer.caller, id);
    return deletePage(id, viewer, info.history_count);
  });
  post("/s/:id/delete", async ({ viewer }, { id = "" }) => {
    await service.remove(viewer.caller, id);
    notices.set(viewer.caller.owner, id, undefined);
    return redirect("/");
  });
}

async function showSession(
  { viewer, url }: Visit,
  id: string,
  { service, notices }: ActionContext,
  more: { readonly draft?: string; readonly problem?: AppError } = {},
): Promise<Response> {
  const { caller, canRun } = viewer;
  const given = url.searchParams.get("before");
  const before = given !== null && /^\d{1,9}$/.test(given) ? Number(given) : undefined;
  const pulse = await service.pulse(caller, id);
  const window = await readWindow(service, caller, id, { before });
  const items = viewBlocks(id, window.entries, canRun);
  const { draft, problem } = more;
  return sessionPage({
    ...{ id, viewer, pulse, window, items },
    notice: problem ? { kind: "problem", text: `${problem.message}.` } : notices.get(caller.owner, id),
    ...(draft === undefined ? {} : { draft }),
    ...(problem ? { status: statusOf(problem) } : {}),
  });
}

/** Code that was refused is not lost: it stands in the form again. */
function retryRun(visit: Visit, id: string, context: ActionContext) {
  return async (problem: AppError): Promise<Response> => {
    const gone = problem.code === "SESSION_NOT_FOUND" || problem.code === "INVALID_SESSION_ID";
    if (gone || !wantsPage(visit.request)) return failed(visit.request, problem, context.log);
    return showSession(visit, id, context, { draft: visit.form.get("code") ?? "", problem });
  };
}

async function createSession(visit: Visit, { service, log }: ActionContext): Promise<Response> {
  const { viewer, form, request } = visit;
  const named = form.get("session_id")?.trim();
  try {
    const { id } = await service.create(viewer.caller, named ? { id: named } : {});
    return redirect(`/s/${id}`);
  } catch (error) {
    const problem = toAppError(error);
    if (!wantsPage(request) || problem.code === "INTERNAL") return failed(request, problem, log);
    const sessions = await service.list(viewer.caller);
    const notice = { kind: "problem", text: `${problem.message}.` } as const;
    return sessionsPage({ viewer, sessions, notice, status: statusOf(problem) });
  }
}
