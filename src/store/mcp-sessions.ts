import type { Storage } from "unstorage";
import { ownerKey } from "./keys.ts";
import type { Locks } from "./locks.ts";
import { createValues, type Values } from "./values.ts";

/** An owner's sessions beyond this are forgotten, the oldest first. */
const MAX_SESSIONS = 32;
const MAX_AGE_MS = 7 * 24 * 60 * 60 * 1000;
/** A longer opening message is not kept; its session ends with the process. */
const MAX_CHARS = 1500;

type Kept = {
  readonly id: string;
  /** When it was opened, in milliseconds since 1970. */
  readonly at: number;
  /** The message that opened it. */
  readonly initialize: Readonly<Record<string, unknown>>;
};

/**
 * The MCP sessions of 2025 clients, by the message that opened each: where a process ends at any time, or another one
 * takes over, these clients go on as if nothing had happened. They would not start anew by themselves.
 */
export interface McpSessions {
  /** @returns The `initialize` message; undefined when the owner has no such session. */
  load(owner: string, id: string): Promise<unknown>;
  save(owner: string, id: string, initialize: unknown): Promise<void>;
  forget(owner: string, id: string): Promise<void>;
}

export type McpSessionsOptions = {
  readonly storage: Storage;
  readonly locks: Locks;
  readonly maxValueBytes?: number | undefined;
  readonly log?: (message: string) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** One value per owner, `o:<owner>:mcp`. All methods reject with AppError STORAGE_UNAVAILABLE when the store fails. */
export function createMcpSessions({ locks, now = Date.now, ...options }: McpSessionsOptions): McpSessions {
  const values = createValues(options);
  const change = (owner: string, edit: (kept: readonly Kept[]) => readonly Kept[]): Promise<void> =>
    locks.run(keyOf(owner), async () => {
      const sessions = edit(await read(values, owner, now()));
      await values.write(keyOf(owner), { sessions });
    });
  return {
    async load(owner, id) {
      return (await read(values, owner, now())).find((kept) => kept.id === id)?.initialize;
    },
    async save(owner, id, initialize) {
      if (!isMessage(initialize) || JSON.stringify(initialize).length > MAX_CHARS) return;
      const added: Kept = { id, at: now(), initialize };
      await change(owner, (kept) => [added, ...kept].slice(0, MAX_SESSIONS));
    },
    forget: (owner, id) => change(owner, (kept) => kept.filter((one) => one.id !== id)),
  };
}

function keyOf(owner: string): string {
  return `${ownerKey(owner)}:mcp`;
}

async function read(values: Values, owner: string, now: number): Promise<readonly Kept[]> {
  const { sessions } = ((await values.read(keyOf(owner))) ?? {}) as { sessions?: unknown };
  return Array.isArray(sessions) ? sessions.filter(isKept).filter(({ at }) => now - at < MAX_AGE_MS) : [];
}

function isKept(value: unknown): value is Kept {
  const { id, at, initialize } = (value ?? {}) as Partial<Kept>;
  return typeof id === "string" && typeof at === "number" && isMessage(initialize);
}

function isMessage(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
