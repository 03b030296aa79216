import type { OpenedStorage } from "../../adapters/drivers/opened.ts";
import { limitsOf } from "../../adapters/options.ts";
import { parseConfig } from "../../src/config.ts";
import type { Backend, Kernel } from "../../src/core/backend.ts";
import type { Block, SessionRecord } from "../../src/core/session.ts";
import { createSessionService, type SessionService } from "../../src/sessions/service.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { indexKey, recordKey } from "../../src/store/keys.ts";

/** The real service over a store that is measured, and kernels that answer at once. */
export type Subject = {
  readonly service: SessionService;
  /** Writes the blocks `from` to `to` of a session and a record that knows of them. */
  fill(session: string, from: number, to: number): Promise<void>;
  /** Writes an owner with empty sessions. */
  fillOwner(owner: string, sessions: number): Promise<void>;
  /** Reads ten blocks from the middle of a history of `length`. */
  history(session: string, length: number): Promise<unknown>;
  append(session: string): Promise<unknown>;
};

const OWNER = "local";
const PARALLEL = 64;
const LIMITS = { REPL_MAX_BLOCKS: "10000000", REPL_MAX_SESSIONS: "1000" };

export function createSubject(opened: OpenedStorage): Subject {
  const store = createHistoryStore({ ...opened, log: () => undefined });
  const service = createSessionService({
    store,
    ...(opened.exclusive ? {} : { locks: opened.locks }),
    backend: createInstantBackend(),
    limits: limitsOf(parseConfig(LIMITS)),
    recovery: "fresh",
    allowUrls: false,
    now: Date.now,
    log: () => undefined,
  });
  const put = (key: string, value: object): Promise<void> =>
    opened.storage.setItem(key, JSON.stringify({ v: 1, value }));
  return {
    service,
    async fill(session, from, to) {
      if (from === 0) await service.create({ owner: OWNER }, { id: session });
      for (let at = from; at < to; at += PARALLEL) {
        const count = Math.min(PARALLEL, to - at);
        await Promise.all(Array.from({ length: count }, (_, i) => store.writeBlock(OWNER, session, blockOf(at + i))));
      }
      const grown = (record: SessionRecord): SessionRecord => ({ ...record, nextSequence: to, live: [[0, to]] });
      await store.updateSession(OWNER, session, grown);
    },
    async fillOwner(owner, sessions) {
      const ids = Array.from({ length: sessions }, (_, index) => `s${index}`);
      await put(indexKey(owner), { ids });
      await Promise.all(ids.map((id) => put(recordKey(owner, id), recordOf(id))));
    },
    history(session, length) {
      const start = Math.floor(length / 2);
      return service.history({ owner: OWNER }, session, { start, end: start + 10 });
    },
    append(session) {
      const { signal } = new AbortController();
      return service.run({ owner: OWNER }, session, { kind: "code", code: "1 + 1" }, { signal });
    },
  };
}

function blockOf(sequence: number): Block {
  return {
    sequence,
    kind: "code",
    code: `total = sum(range(${sequence}))\ntotal`,
    status: "ok",
    outputs: [{ type: "execute_result", data: { "text/plain": String(sequence * 7) } }],
    error: null,
    state: "kept",
    epoch: 1,
    startedAt: 1_800_000_000,
    durationMs: 1,
    truncatedChars: 0,
  };
}

function recordOf(id: string): SessionRecord {
  const times = { createdAt: 1_800_000_000, lastUsedAt: 1_800_000_000 };
  const empty = { cwd: null, recovery: null, kernelRef: null, pending: null, lost: null };
  return { id, ...times, ...empty, backend: "instant", epoch: 0, nextSequence: 0, live: [] };
}

function createInstantBackend(): Backend {
  const kernel: Kernel = {
    ref: {},
    died: new Promise(() => undefined),
    async execute(_cell, { onOutput }) {
      onOutput({ type: "execute_result", data: { "text/plain": "2" } });
      return { status: "ok" };
    },
    shutdown: async () => undefined,
    files: { read: unsupported, write: unsupported, list: unsupported },
    install: unsupported,
  };
  return {
    name: "instant",
    supports: {
      attach: false,
      interrupt: true,
      files: false,
      sharedPackages: true,
      eagerStart: true,
      lateOutput: false,
    },
    startKernel: async () => kernel,
    attachKernel: async () => undefined,
    discardKernel: async () => undefined,
    install: unsupported,
    close: async () => undefined,
  };
}

function unsupported(): never {
  throw new Error("Instant kernels only answer");
}
