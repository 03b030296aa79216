import { AppError, toAppError } from "../core/errors.ts";
import type { SessionService } from "../sessions/service.ts";
import { findBlock } from "./documents.ts";
import type { Notice, Notices } from "./notices.ts";
import { redirect } from "./respond.ts";
import { failed, type Visit, type VisitOptions } from "./visit.ts";

/** An answer waits this long for what was asked, so that the next page shows it; longer work goes on by itself. */
const SETTLE_MS = 1500;

export type ActionContext = {
  readonly service: SessionService;
  readonly notices: Notices;
  readonly log: VisitOptions["log"];
};

/** What buttons of a session's page ask for. */
type Action = (visit: Visit, id: string, context: ActionContext) => Promise<Notice | undefined>;

const never = (): AbortSignal => new AbortController().signal;

const unsaved = (failed: boolean): Notice | undefined =>
  failed ? { kind: "problem", text: "The block ran but is not saved: the history store is unavailable." } : undefined;

export const SESSION_ACTIONS: Readonly<Record<string, Action>> = {
  async run({ viewer, form }, id, { service }) {
    const code = form.get("code") ?? "";
    const { unsaved: lost } = await service.run(viewer.caller, id, { kind: "code", code }, { signal: never() });
    return unsaved(lost);
  },
  async interrupt({ viewer }, id, { service }) {
    const stopped = await service.interrupt(viewer.caller, id);
    return stopped ? undefined : { kind: "info", text: "Nothing was running." };
  },
  async rerun({ viewer }, id, { service }) {
    return rerunNotice(await service.rerun(viewer.caller, id, { signal: never() }));
  },
  async restart({ viewer }, id, { service }) {
    await service.reset(viewer.caller, id, false);
    return { kind: "info", text: "A fresh interpreter; Rerun all restores variables." };
  },
};

/** What the menu of a block asks for. */
type BlockAction = (visit: Visit, id: string, sequence: number, context: ActionContext) => Promise<Notice | undefined>;

export const BLOCK_ACTIONS: Readonly<Record<string, BlockAction>> = {
  async "run-again"({ viewer }, id, sequence, { service }) {
    const { block } = await findBlock(service, viewer.caller, id, sequence);
    const { kind, code, path } = block;
    const spec = { kind, code, ...(path === undefined ? {} : { path }) };
    return unsaved((await service.run(viewer.caller, id, spec, { signal: never() })).unsaved);
  },
  async rerun({ viewer }, id, sequence, { service }) {
    const { index } = await findBlock(service, viewer.caller, id, sequence);
    return rerunNotice(await service.rerun(viewer.caller, id, { start: 0, end: index + 1, signal: never() }));
  },
  async delete({ viewer }, id, sequence, { service }) {
    const { index } = await findBlock(service, viewer.caller, id, sequence);
    await service.deleteHistory(viewer.caller, id, index);
    return undefined;
  },
};

function rerunNotice({ entries, notRun }: Awaited<ReturnType<SessionService["rerun"]>>): Notice {
  const count = (amount: number): string => (amount === 1 ? "1 block" : `${amount} blocks`);
  const changed = entries.filter(({ same }) => !same).length;
  const parts = [
    `Ran ${count(entries.length)} in a fresh interpreter`,
    changed === 0 ? "output as before" : `other output in ${count(changed)}`,
    ...(notRun > 0 ? [`${count(notRun)} not run`] : []),
  ];
  return { kind: "info", text: `${parts.join(", ")}.` };
}

/**
 * Starts what was asked for and answers soon. What comes of longer work is told as the session's notice.
 * @param retry Answers a page with what was typed, where the action is refused at once.
 */
export async function act(
  visit: Visit,
  id: string,
  context: ActionContext,
  work: Promise<Notice | undefined>,
  { next, retry }: { next: string; retry?: (error: AppError) => Promise<Response> },
): Promise<Response> {
  const { notices, log } = context;
  const { owner } = visit.viewer.caller;
  notices.set(owner, id, undefined);
  let answered = false;
  const outcome = work.then(
    (notice) => {
      notices.set(owner, id, notice);
      return undefined;
    },
    (error: unknown) => {
      const told = toAppError(error);
      if (answered && told.code === "INTERNAL") log("action failed", { error: String(told.cause) });
      if (answered) notices.set(owner, id, { kind: "problem", text: `${told.message}.` });
      return told;
    },
  );
  visit.defer?.(outcome);
  const error = await soon(outcome);
  answered = true;
  if (error instanceof AppError) return retry ? retry(error) : failed(visit.request, error, log);
  return redirect(next);
}

/** @returns What `work` gives within the time an answer may take, else undefined. */
function soon<T>(work: Promise<T>): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), SETTLE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
