import { createStorage, type Storage } from "unstorage";
import type { OpenedStorage } from "../../adapters/drivers/opened.ts";
import type { SessionRecord } from "../../src/core/session.ts";
import { createHistoryStore, type HistoryStore } from "../../src/store/history-store.ts";
import { createLocalLocks, type Locks } from "../../src/store/locks.ts";
import { type StoreSubject, watched } from "../contract/store-subject.ts";

// For every check of the store contract a store that breaks what the check is about, and as little else as can be.

/** A good store that several servers can open: memory, with a pause in every call so that calls can overtake. */
export function sharedMemory(change: Partial<OpenedStorage> = {}): StoreSubject {
  const memory = createStorage();
  const storage = watched(memory, () => new Promise((resolve) => setTimeout(resolve, 0)));
  const locks = createLocalLocks();
  const opened = { storage, locks, exclusive: false, description: "memory", close: async () => {}, ...change };
  return { supports: { sharing: true }, open: async () => opened };
}

/** Changes what the store does with keys and values. */
function withStorage(change: (storage: Storage) => Partial<Storage>): StoreSubject {
  const storage = createStorage();
  return sharedMemory({ storage: { ...storage, ...change(storage) } });
}

function withKeys(change: (key: string) => string): StoreSubject {
  return withStorage(
    (storage) =>
      ({
        getItem: (key: string) => storage.getItem(change(key)),
        setItem: (key: string, value: string) => storage.setItem(change(key), value),
        removeItem: (key: string) => storage.removeItem(change(key)),
        hasItem: (key: string) => storage.hasItem(change(key)),
      }) as Partial<Storage>,
  );
}

function withValues(change: (value: unknown) => unknown): StoreSubject {
  return withStorage(
    (storage) => ({ getItem: async (key: string) => change(await storage.getItem(key)) }) as Partial<Storage>,
  );
}

/** Changes every text within a value. */
function mapTexts(value: unknown, change: (text: string) => unknown): unknown {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mapTexts(item, change)]));
}

/** Changes the history store itself. */
function withMethods(change: (store: HistoryStore) => Partial<HistoryStore>): StoreSubject {
  const create = (options: Parameters<typeof createHistoryStore>[0]): HistoryStore => {
    const store = createHistoryStore(options);
    return { ...store, ...change(store) };
  };
  return { ...sharedMemory(), create };
}

const NO_LOCKS: Locks = { run: (_, task) => task() };

/** Every server has locks of its own. */
function separateLocks(): StoreSubject {
  const subject = sharedMemory();
  return { ...subject, open: async () => ({ ...(await subject.open()), locks: createLocalLocks() }) };
}

function lowerCase(_: string, code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16)).toLowerCase();
}

/** As a reader does that takes text for JSON. */
function parsed(text: string): unknown {
  return text === "1e3" ? 1000 : text;
}

/** Remembers what it tried to write, and answers from that. */
function rememberAttempts(store: HistoryStore): Partial<HistoryStore> {
  const attempts = new Map<string, SessionRecord>();
  return {
    readSession: async (owner, id) => attempts.get(owner + id) ?? store.readSession(owner, id),
    updateSession: (owner, id, change) =>
      store.updateSession(owner, id, (record) => {
        const changed = change(record);
        attempts.set(owner + id, changed);
        return changed;
      }),
  };
}

export const brokenStores: Readonly<Record<string, () => StoreSubject>> = {
  "what was written is read at once": () => withMethods(() => ({ writeBlock: async () => {} })),
  "nothing is there before it was written": () =>
    withMethods((store) => ({
      readBlocks: async (owner, id, sequences) =>
        (await store.readBlocks(owner, id, sequences)).filter((block) => block),
    })),
  "a slice reads its blocks in order, also after deletions": () =>
    withMethods((store) => ({
      readBlocks: (owner, id, sequences) => store.readBlocks(owner, id, [...sequences].sort()),
    })),
  "a deleted session leaves nothing behind": () =>
    withStorage(
      (storage) =>
        ({
          removeItem: async (key: string) => (/-[01]-\d+$/.test(key) ? undefined : storage.removeItem(key)),
        }) as Partial<Storage>,
    ),
  "no two session ids are taken for each other": () =>
    withKeys((key) => key.replace(/_(4[1-9a-f]|5[0-9a])/g, lowerCase)),
  "no owner sees what another has": () => withKeys((key) => key.replace(/^o:[^:]+/, "o")),
  "requirements are kept in order, each once": () =>
    withMethods((store) => ({
      addPackages: async (owner, added) => (await store.addPackages(owner, added)).sort(),
    })),
  "a change that fails changes nothing": () =>
    withMethods((store) => ({
      updateSession: (owner, id, change) =>
        store.updateSession(owner, id, (record) => {
          try {
            return change(record);
          } catch {
            return { ...record, epoch: record.epoch + 1 };
          }
        }),
    })),
  "text that looks like JSON stays text": () => withValues((value) => mapTexts(value, parsed)),
  "any Unicode survives": () =>
    withValues((value) => mapTexts(value, (text) => text.replace(/\p{Surrogate}/gu, "\ufffd"))),
  "large blocks are kept whole, and replaced whole": () =>
    withStorage(
      (storage) =>
        ({
          setItem: (key: string, value: string) =>
            storage.setItem(key, key.includes(":b:") ? value.slice(0, 1_000_000) : value),
        }) as Partial<Storage>,
    ),
  "a session can hold large code in flight": () =>
    withStorage(
      (storage) =>
        ({
          setItem: async (key: string, value: string) => {
            if (key.endsWith(":record") && value.length > 1_000_000) throw new Error("too large");
            await storage.setItem(key, value);
          },
        }) as Partial<Storage>,
    ),
  "a run costs the same however long the history is": () => sharedMemory({ maxValueBytes: 400 }),
  "of two creates of one id, one wins": () => sharedMemory({ locks: NO_LOCKS }),
  "no more sessions than allowed come of creates at once": () => sharedMemory({ locks: NO_LOCKS }),
  "appends at once all survive, in order": () => sharedMemory({ locks: NO_LOCKS }),
  "of two servers' creates of one id, one wins": separateLocks,
  "several servers create no more sessions than allowed": separateLocks,
  "several servers' appends all survive, in order": separateLocks,
  "what one server wrote, another sees": () => sharedMemory({ exclusive: true }),
  "a store that is down is told as such": () =>
    withMethods((store) => ({
      readPackages: (owner) => store.readPackages(owner).catch(() => []),
    })),
  "a write that fails leaves the old value or the new one": () => withMethods(rememberAttempts),
  "a large value is replaced whole or not at all": () => withKeys((key) => key.replace(/-1-(\d+)$/, "-0-$1")),
  "a deletion that was cut off is finished by the next call": () =>
    withStorage(
      (storage) =>
        ({
          setItem: (key: string, value: string) =>
            value.includes('"removed":true') ? storage.removeItem(key) : storage.setItem(key, value),
        }) as Partial<Storage>,
    ),
  "values that make no sense are absent, logged, and harm no others": () =>
    withValues((value) => {
      if (typeof value === "string") throw new SyntaxError("not JSON");
      return value;
    }),
  "a damaged index is made again, a damaged list of packages begins anew": () =>
    withStorage(() => ({ getKeys: async () => [] })),
};
