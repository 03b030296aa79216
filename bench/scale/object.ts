import { openDurableObject } from "../../adapters/drivers/durable-object.ts";
import { limitsOf } from "../../adapters/options.ts";
import { createE2bBackend } from "../../src/backends/e2b/backend.ts";
import { parseConfig } from "../../src/config.ts";
import { createSessionService, type SessionService } from "../../src/sessions/service.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import type { Clock } from "./clock.ts";

/** An idle object leaves memory after this; then its next request makes it again. */
/** 32 bytes, in base64. */
const SEAL_KEY = btoa("a key for the simulation: public");
const HIBERNATES_MS = 10_000;

export type ObjectCounts = {
  requests: number;
  /** Times that an object was made again. */
  starts: number;
  rowsRead: number;
  rowsWritten: number;
  bytesStored: number;
  /** Seconds of wall-clock time that requests were open. */
  seconds: number;
};

/** The Durable Objects of all owners: the service of each as the Worker puts it together, on storage that counts. */
export class Objects {
  readonly counts: ObjectCounts = { requests: 0, starts: 0, rowsRead: 0, rowsWritten: 0, bytesStored: 0, seconds: 0 };
  readonly #clock: Clock;
  readonly #idleSeconds: number;
  readonly #storages = new Map<string, Map<string, Uint8Array>>();
  readonly #alive = new Map<string, { readonly service: SessionService; usedAt: number }>();

  constructor(clock: Clock, idleSeconds: number) {
    this.#clock = clock;
    this.#idleSeconds = idleSeconds;
  }

  /** One request to an owner's object. */
  async ask<T>(owner: string, request: (service: SessionService) => Promise<T>): Promise<T> {
    const began = this.#clock.now();
    const object = this.#wake(owner);
    this.counts.requests += 1;
    try {
      return await request(object.service);
    } finally {
      object.usedAt = this.#clock.now();
      this.counts.seconds += (this.#clock.now() - began) / 1000;
    }
  }

  #wake(owner: string): { readonly service: SessionService; usedAt: number } {
    const present = this.#alive.get(owner);
    if (present && this.#clock.now() - present.usedAt < HIBERNATES_MS) return present;
    const object = { service: this.#start(owner), usedAt: this.#clock.now() };
    this.#alive.set(owner, object);
    this.counts.starts += 1;
    return object;
  }

  #start(owner: string): SessionService {
    const config = parseConfig({ REPL_BACKEND: "e2b", REPL_E2B_IDLE_SECONDS: String(this.#idleSeconds) });
    const { now } = this.#clock;
    const address = { apiUrl: "https://api.cloud.test", sandboxUrl: "https://sandbox.cloud.test" };
    const e2b = { apiKey: "simulated", ...address, sealKey: SEAL_KEY, idleSeconds: this.#idleSeconds };
    const log = (): void => undefined;
    return createSessionService({
      store: createHistoryStore({ ...openDurableObject(this.#storageOf(owner)), log }),
      backend: createE2bBackend({ ...e2b, now }),
      limits: limitsOf(config),
      recovery: config.REPL_RECOVERY,
      allowUrls: false,
      now,
      log,
    });
  }

  #storageOf(owner: string) {
    const values = this.#storages.get(owner) ?? new Map<string, Uint8Array>();
    this.#storages.set(owner, values);
    const { counts } = this;
    return {
      async get(key: string) {
        counts.rowsRead += 1;
        return values.get(key);
      },
      async put(key: string, value: unknown) {
        counts.rowsWritten += 1;
        const bytes = value as Uint8Array;
        counts.bytesStored += bytes.length - (values.get(key)?.length ?? 0);
        values.set(key, bytes);
      },
      async delete(key: string) {
        counts.rowsWritten += 1;
        return values.delete(key);
      },
      async list({ prefix }: { prefix: string }) {
        const found = [...values].filter(([key]) => key.startsWith(prefix));
        counts.rowsRead += found.length;
        return new Map(found);
      },
    };
  }
}
