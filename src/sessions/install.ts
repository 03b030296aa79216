import type { InstallReply, Kernel } from "../core/backend.ts";
import { AppError } from "../core/errors.ts";
import { parseRequirements } from "../core/requirement.ts";
import type { Caller, ServiceContext } from "./context.ts";
import type { LiveSessions } from "./live.ts";
import { checkSessionId } from "./manage.ts";
import { requireSession } from "./run.ts";

export type InstallRequest = {
  readonly text: string;
  readonly session?: string | undefined;
  readonly signal: AbortSignal;
  readonly onProgress: (line: string) => void;
};

export type InstallResult = InstallReply & { readonly requirements: readonly string[] };

/** Finds or starts the kernel of a session. */
export type KernelFor = (caller: Caller, id: string, signal: AbortSignal) => Promise<Kernel>;

/**
 * Installs for the owner: once where kernels share an environment, else in the named session's kernel and then in the
 * owner's other live ones. Later kernels get it through the owner's list of packages.
 */
export async function installPackages(
  context: ServiceContext,
  kernelFor: KernelFor,
  sessions: LiveSessions,
  caller: Caller,
  request: InstallRequest,
): Promise<InstallResult> {
  const requirements = parseRequirements(request.text, { allowUrls: context.allowUrls });
  const options = { ...request, owner: caller.owner };
  if (request.session !== undefined) await requireSession(context, caller.owner, checkSessionId(request.session));
  if (context.backend.install) return { ...(await context.backend.install(requirements, options)), requirements };
  const id = request.session ?? (await anySession(context, caller));
  const kernel = await kernelFor(caller, id, request.signal);
  const live = sessions.peek(caller.owner, id);
  const reply = await kernel.install(requirements, options);
  await context.store.addPackages(caller.owner, requirements);
  const others = [...sessions.all()].filter((other) => other.owner === caller.owner && other !== live && other.kernel);
  await Promise.all(others.map((other) => other.kernel?.install(requirements, options)));
  return { ...reply, requirements };
}

async function anySession(context: ServiceContext, caller: Caller): Promise<string> {
  const [first] = await context.store.listSessions(caller.owner);
  if (first) return first.id;
  throw new AppError("SESSION_NOT_FOUND", "There is no session to install into; create_session first");
}
