import type { KernelRef } from "../../core/backend.ts";
import type { Connection, SandboxMeta } from "./control.ts";
import type { ReadyItem } from "./events.ts";
import type { Seal } from "./seal.ts";

/** What is known of a kernel, as plain JSON but for the tokens. */
export type KernelFacts = Omit<ReadyItem, "type" | "cwd" | "python"> & { readonly nonce: string };

export type Lease = {
  /** Milliseconds since 1970 by the clock of the process that took it. */
  readonly until: number;
  /** What it was taken for: an end further away tells that clocks differ. */
  readonly length: number;
};

export type RefContent = {
  readonly connection: Connection;
  readonly facts: KernelFacts;
  readonly lease: Lease;
  /** False when the ref holds no tokens that we can read. */
  readonly hasTokens: boolean;
};

const VERSION = 1;
/** It becomes part of addresses. */
const SANDBOX_ID = /^[A-Za-z0-9-]{1,64}$/;

/** The tokens are in it only sealed. */
export async function sealTokens(connection: Connection, seal: Seal | undefined): Promise<string | null> {
  const { envdToken, trafficToken } = connection;
  return seal ? seal.seal({ envdToken, trafficToken }, addressOf(connection)) : null;
}

/** What the seal is bound to: with another address in its place, in a store edited by hand, it does not open. */
function addressOf({ sandboxId, sandboxDomain }: Pick<Connection, "sandboxId" | "sandboxDomain">): string {
  return JSON.stringify([sandboxId, sandboxDomain ?? null]);
}

export function makeRef(connection: Connection, facts: KernelFacts, lease: Lease, tokens: string | null): KernelRef {
  const { sandboxId, sandboxDomain } = connection;
  return { v: VERSION, sandboxId, sandboxDomain: sandboxDomain ?? null, facts, lease, tokens };
}

/** Resolves to undefined for a ref that is not of this backend and version. */
export async function readRef(ref: KernelRef, seal: Seal | undefined): Promise<RefContent | undefined> {
  const sandboxId = sandboxIdOf(ref);
  const sandboxDomain = typeof ref.sandboxDomain === "string" ? ref.sandboxDomain : undefined;
  const { tokens } = ref;
  const facts = ref.facts as KernelFacts | undefined;
  const lease = ref.lease as Lease | undefined;
  if (ref.v !== VERSION || sandboxId === undefined || !facts || !lease) return undefined;
  const address = addressOf({ sandboxId, sandboxDomain });
  const opened = seal && typeof tokens === "string" ? await seal.open(tokens, address) : undefined;
  const { envdToken, trafficToken } = (opened ?? {}) as { envdToken?: string; trafficToken?: string };
  // An address that no seal vouches for is asked for again, before any code is sent there.
  const domain = opened === undefined ? undefined : sandboxDomain;
  return {
    connection: { sandboxId, sandboxDomain: domain, envdToken, trafficToken },
    facts,
    lease,
    hasTokens: opened !== undefined,
  };
}

/** The sandbox of a ref, for ending it; undefined for a ref of something else. */
export function sandboxIdOf(ref: KernelRef): string | undefined {
  const id = ref.sandboxId;
  return typeof id === "string" && SANDBOX_ID.test(id) ? id : undefined;
}

/** Is the sandbox the one that a session's stored ref speaks of? For the `keep` of a sweep. */
export function refOwnsSandbox(ref: KernelRef | null | undefined, meta: SandboxMeta): boolean {
  return ref !== null && ref !== undefined && sandboxIdOf(ref) === meta.sandboxId;
}
