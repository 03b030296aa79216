import type { Sandbox as SdkSandbox } from "@e2b/code-interpreter";
import { controlError, hasNoAnswer, statusOf } from "./control-errors.ts";
import { APP, type E2bSettings } from "./options.ts";

/** What is needed to reach a sandbox. The tokens are secrets. */
export type Connection = {
  readonly sandboxId: string;
  readonly sandboxDomain: string | undefined;
  readonly envdToken: string | undefined;
  readonly trafficToken: string | undefined;
};

/** Whose sandbox it is; stored with it at E2B. */
export type SandboxOwner = {
  readonly owner: string;
  readonly session: string;
  readonly epoch: number;
  readonly nonce: string;
};

export type SandboxMeta = SandboxOwner & {
  readonly sandboxId: string;
  readonly state: "running" | "paused";
  /** Milliseconds since 1970, by E2B's clock. */
  readonly startedAt: number;
};

/** E2B's control plane. All calls are bounded in time and throw AppError. */
export type Control = {
  /** @throws AppError BACKEND_UNAVAILABLE, LIMIT_REACHED. */
  create(owner: SandboxOwner, leaseMs: number): Promise<Connection>;
  /** Wakes it if paused; lets it live for `leaseMs` from now or longer. Resolves to undefined when it is gone. */
  connect(sandboxId: string, leaseMs: number): Promise<Connection | undefined>;
  /** Idempotent; a paused one too. */
  kill(sandboxId: string): Promise<void>;
  /** All sandboxes of this deployment with these metadata, running and paused, page by page. */
  list(metadata: Readonly<Record<string, string>>): AsyncGenerator<SandboxMeta>;
};

/** How much longer than for others we wait for a create whose caller has been told that it failed. */
const LATE_FACTOR = 4;

type Sdk = { readonly Sandbox: typeof ReplSandboxType };
declare class ReplSandboxType extends SdkSandbox {
  readonly connection: Connection;
}

/** E2B's SDK reaches the network lazily: it is loaded by the first call that needs it, never by a cell. */
export function createControl(settings: E2bSettings): Control {
  let loading: Promise<Sdk> | undefined;
  const load = (): Promise<Sdk> => {
    loading ??= loadSdk().catch((error: unknown) => {
      loading = undefined;
      throw controlError(error, "start", settings);
    });
    return loading;
  };
  const call = <T>(what: string, work: (sdk: Sdk, signal: AbortSignal) => Promise<T>): Promise<T> =>
    load().then((sdk) => bounded(settings, what, (signal) => work(sdk, signal)));
  return {
    create: (owner, leaseMs) => createSandbox(settings, load, owner, leaseMs),
    connect: (sandboxId, leaseMs) =>
      call("connect", (sdk, signal) => connect(sdk, settings, sandboxId, leaseMs, signal)),
    kill: (sandboxId) =>
      call("end", async (sdk, signal) => {
        await sdk.Sandbox.kill(sandboxId, connectionOptions(settings, signal));
      }),
    list: (metadata) => listSandboxes(settings, load, metadata),
  };
}

async function loadSdk(): Promise<Sdk> {
  const { Sandbox } = await import("@e2b/code-interpreter");
  /** The SDK keeps the tokens protected; its constructor gets them all. */
  class ReplSandbox extends Sandbox {
    readonly connection: Connection;

    constructor(options: ConstructorParameters<typeof Sandbox>[0]) {
      super(options);
      this.connection = {
        sandboxId: options.sandboxId,
        sandboxDomain: options.sandboxDomain,
        envdToken: options.envdAccessToken,
        trafficToken: options.trafficAccessToken,
      };
    }
  }
  return { Sandbox: ReplSandbox };
}

/** Explicit, so that no E2B_* variable of the environment changes where we go. */
function connectionOptions(settings: E2bSettings, signal: AbortSignal) {
  const { apiKey, domain, apiUrl, sandboxUrl, controlTimeoutMs } = settings;
  return {
    apiKey,
    domain,
    apiUrl,
    debug: false,
    retries: 2,
    requestTimeoutMs: controlTimeoutMs,
    signal,
    ...(sandboxUrl === undefined ? {} : { sandboxUrl }),
  };
}

async function createSandbox(
  settings: E2bSettings,
  load: () => Promise<Sdk>,
  owner: SandboxOwner,
  leaseMs: number,
): Promise<Connection> {
  const sdk = await load();
  // Not aborted at our time limit: the answer that comes late names the sandbox that is to be ended.
  const asked = sdk.Sandbox.create(settings.template, {
    ...connectionOptions(settings, new AbortController().signal),
    requestTimeoutMs: settings.controlTimeoutMs * LATE_FACTOR,
    timeoutMs: leaseMs,
    metadata: metadataOf(settings, owner),
    allowInternetAccess: settings.internet,
    network: { allowPublicTraffic: false },
    lifecycle: settings.onIdle === "pause" ? { onTimeout: "pause", autoResume: true } : { onTimeout: "kill" },
  });
  try {
    return (await bounded(settings, "start", () => asked)).connection;
  } catch (error) {
    const kill = (id: string) =>
      bounded(settings, "end", (signal) => sdk.Sandbox.kill(id, connectionOptions(settings, signal)));
    // Without an answer the service may have made one all the same; then it is found by its nonce.
    const late = asked.then(
      (sandbox) => kill(sandbox.sandboxId),
      () => (hasNoAnswer(error) ? killByNonce(settings, load, owner.nonce, kill) : undefined),
    );
    late.catch((cause: unknown) => settings.log(`A sandbox that came late was not ended: ${String(cause)}`));
    throw error;
  }
}

async function killByNonce(
  settings: E2bSettings,
  load: () => Promise<Sdk>,
  nonce: string,
  kill: (sandboxId: string) => Promise<unknown>,
): Promise<void> {
  try {
    for await (const found of listSandboxes(settings, load, { nonce })) await kill(found.sandboxId);
  } catch (error) {
    settings.log(`A sandbox that was not waited for may still run until its time is up or a sweep: ${String(error)}`);
  }
}

function metadataOf(settings: E2bSettings, owner: SandboxOwner): Record<string, string> {
  const { session, epoch, nonce } = owner;
  return { app: APP, deploy: settings.deploy, owner: owner.owner, session, epoch: String(epoch), nonce };
}

async function connect(
  sdk: Sdk,
  settings: E2bSettings,
  sandboxId: string,
  leaseMs: number,
  signal: AbortSignal,
): Promise<Connection | undefined> {
  const options = connectionOptions(settings, signal);
  const attempt = async () => (await sdk.Sandbox.connect(sandboxId, { ...options, timeoutMs: leaseMs })).connection;
  try {
    return await attempt().catch(async (error: unknown) => {
      if (statusOf(error) !== 400) throw error;
      // The longest time without a pause is used up: a pause starts it anew.
      await sdk.Sandbox.pause(sandboxId, options);
      return attempt();
    });
  } catch (error) {
    if (statusOf(error) === 404) return undefined;
    throw error;
  }
}

async function* listSandboxes(
  settings: E2bSettings,
  load: () => Promise<Sdk>,
  metadata: Readonly<Record<string, string>>,
): AsyncGenerator<SandboxMeta> {
  const sdk = await load();
  const query = { metadata: { app: APP, deploy: settings.deploy, ...metadata }, state: ["running", "paused"] };
  const pages = sdk.Sandbox.list({
    ...connectionOptions(settings, AbortSignal.timeout(settings.controlTimeoutMs * 4)),
    query: query as { metadata: Record<string, string>; state: ("running" | "paused")[] },
    limit: 100,
  });
  while (pages.hasNext) {
    const page = await bounded(settings, "list", () => pages.nextItems());
    for (const { sandboxId, metadata: found, state, startedAt } of page) {
      const { owner = "", session = "", nonce = "" } = found;
      yield {
        sandboxId,
        owner,
        session,
        epoch: Number(found.epoch ?? 0),
        nonce,
        state,
        startedAt: startedAt.getTime(),
      };
    }
  }
}

/** The SDK's own time limit does not hold in all runtimes, so ours ends the wait. */
async function bounded<T>(settings: E2bSettings, what: string, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const error = new DOMException(`E2B did not answer within ${settings.controlTimeoutMs} ms`, "TimeoutError");
      controller.abort(error);
      reject(error);
    }, settings.controlTimeoutMs);
  });
  const result = work(controller.signal);
  result.catch(() => undefined); // after the limit nobody else listens
  try {
    return await Promise.race([result, limit]);
  } catch (error) {
    throw controlError(error, what, settings);
  } finally {
    clearTimeout(timer);
  }
}
