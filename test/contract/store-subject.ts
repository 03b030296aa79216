import type { Storage } from "unstorage";
import type { OpenedStorage } from "../../adapters/drivers/opened.ts";
import { AppError, type ErrorCode } from "../../src/core/errors.ts";
import type { Block, SessionRecord } from "../../src/core/session.ts";
import { createHistoryStore, type HistoryStore, type HistoryStoreOptions } from "../../src/store/history-store.ts";
import { appendRange } from "../../src/store/ranges.ts";

/** A store under test. */
export type StoreSubject = {
  readonly supports: {
    /** Several servers can have it open at once. */
    readonly sharing: boolean;
  };
  /** Opens it as one more server would: what is stored is shared, and nothing else. */
  open(): Promise<OpenedStorage>;
  /** Puts the history store over it; a broken one when the suite itself is tested. */
  readonly create?: (options: HistoryStoreOptions) => HistoryStore;
};

/** One promise of the store contract. `needs` names what a store must support; nothing else skips a check. */
export type StoreCheck = {
  readonly id: string;
  readonly needs?: keyof StoreSubject["supports"];
  run(subject: StoreSubject): Promise<void>;
};

/** A store that is open for one check: an owner nobody else has, and what the store logged. */
export type Opened = {
  readonly store: HistoryStore;
  readonly owner: string;
  readonly storage: Storage;
  readonly logged: string[];
  /** The history store once more over the same opened storage: not `exclusive`, unless that is what is changed. */
  again(change: Partial<HistoryStoreOptions>): HistoryStore;
};

/** Runs `task` with the store open, and closes it. */
export async function withStore(subject: StoreSubject, task: (opened: Opened) => Promise<void>): Promise<void> {
  const { close, ...options } = await subject.open();
  const logged: string[] = [];
  const create = subject.create ?? createHistoryStore;
  const again = (change: Partial<HistoryStoreOptions>): HistoryStore =>
    create({ ...options, exclusive: false, log: (message) => logged.push(message), ...change });
  try {
    await task({
      store: again({ exclusive: options.exclusive }),
      owner: newOwner(),
      storage: options.storage,
      logged,
      again,
    });
  } finally {
    await close();
  }
}

/** Like `withStore` with `count` servers that have the same store open. */
export async function withStores(
  subject: StoreSubject,
  count: number,
  task: (stores: readonly HistoryStore[], owner: string) => Promise<void>,
): Promise<void> {
  const opened = await Promise.all(Array.from({ length: count }, () => subject.open()));
  const create = subject.create ?? createHistoryStore;
  try {
    await task(opened.map(create), newOwner());
  } finally {
    await Promise.all(opened.map((one) => one.close()));
  }
}

export function newOwner(): string {
  return `owner-${crypto.randomUUID()}`;
}

export function newRecord(id: string, change: Partial<SessionRecord> = {}): SessionRecord {
  return {
    id,
    createdAt: 1_700_000_000.5,
    lastUsedAt: 1_700_000_001,
    cwd: null,
    backend: "none",
    recovery: null,
    kernelRef: null,
    epoch: 0,
    nextSequence: 0,
    live: [],
    pending: null,
    lost: null,
    ...change,
  };
}

export function newBlock(sequence: number, code = `x = ${sequence}`): Block {
  return {
    sequence,
    kind: "code",
    code,
    status: "ok",
    outputs: [{ type: "stream", name: "stdout", text: `${sequence}\n` }],
    error: null,
    state: "kept",
    epoch: 1,
    startedAt: 1_700_000_002,
    durationMs: 3,
    truncatedChars: 0,
  };
}

/** What a run does: takes the next sequence number with its block pending, then stores the block. Returns the number. */
export async function append(store: HistoryStore, owner: string, id: string, code?: string): Promise<number> {
  const { pending } = await store.updateSession(owner, id, (record) => ({
    ...record,
    nextSequence: record.nextSequence + 1,
    live: appendRange(record.live, record.nextSequence),
    pending: newBlock(record.nextSequence, code),
  }));
  if (pending === null) throw new Error("The update lost the pending block");
  await store.writeBlock(owner, id, pending);
  return pending.sequence;
}

/** The code of the AppError that `promise` rejects with; throws when it resolves or rejects with another error. */
export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) throw new Error(`Expected a rejection, got ${JSON.stringify(outcome.value)}`);
  if (outcome.error instanceof AppError) return outcome.error.code;
  throw outcome.error;
}

/** A storage that calls `before` with the method's name and key before it does what `storage` does. */
export function watched(storage: Storage, before: (method: string, key: string) => void | Promise<void>): Storage {
  const methods = ["getItem", "setItem", "removeItem", "hasItem", "getKeys"] as const;
  const changed = Object.fromEntries(
    methods.map((method) => [
      method,
      async (key = "", ...rest: unknown[]) => {
        await before(method, key);
        return (storage[method] as (...all: unknown[]) => Promise<unknown>)(key, ...rest);
      },
    ]),
  );
  return { ...storage, ...changed };
}
