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

/** The tokens are in it only sealed. */
export async function sealTokens(connection: Connection, seal: Seal | undefined): Promise<string | null> {
  const { sandboxId, envdToken, trafficToken } = connection;
  return seal ? seal.seal({ envdToken, trafficToken }, sandboxId) : null;
}

export function makeRef(connection: Connection, facts: KernelFacts, lease: Lease, tokens: string | null): KernelRef {
  const { sandboxId, sandboxDomain } = connection;
  return { v: VERSION, sandboxId, sandboxDomain: sandboxDomain ?? null, facts, lease, tokens };
}

/** Resolves to undefined for a ref that is not of this backend and version. */
export async function readRef(ref: KernelRef, seal: Seal | undefined): Promise<RefContent | undefined> {
  const { sandboxId, sandboxDomain, tokens } = ref;
  const facts = ref.facts as KernelFacts | undefined;
  const lease = ref.lease as Lease | undefined;
  if (ref.v !== VERSION || typeof sandboxId !== "string" || !facts || !lease) return undefined;
  const opened = seal && typeof tokens === "string" ? await seal.open(tokens, sandboxId) : undefined;
  const { envdToken, trafficToken } = (opened ?? {}) as { envdToken?: string; trafficToken?: string };
  const domain = typeof sandboxDomain === "string" ? sandboxDomain : undefined;
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
  return typeof id === "string" ? id : undefined;
}

/** Is the sandbox the one that a session's stored ref speaks of? For the `keep` of a sweep. */
export function refOwnsSandbox(ref: KernelRef | null | undefined, meta: SandboxMeta): boolean {
  return ref !== null && ref !== undefined && sandboxIdOf(ref) === meta.sandboxId;
}
