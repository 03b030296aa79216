import worker, { OwnerObject } from "../../adapters/cloudflare.ts";
import type { R2Bucket } from "../../adapters/drivers/cloudflare-blocks.ts";

/**
 * The Worker as it is deployed, with more that a test can ask for: an object is evicted in the middle of its work, its
 * storage fails, a bucket takes blocks (with the binding `TEST_BUCKET`), the cron runs.
 */

type WorkerEnv = Parameters<typeof worker.fetch>[1];
type Context = Parameters<typeof worker.scheduled>[2];
type State = ConstructorParameters<typeof OwnerObject>[0] & { abort(reason: string): void };

export default {
  async fetch(request: Request, env: WorkerEnv): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/__bucket") return Response.json([...objects.keys()]);
    if (pathname !== "/__scheduled") return worker.fetch(request, env);
    const work: Promise<unknown>[] = [];
    const context: Context = { waitUntil: (task) => void work.push(task) };
    await worker.scheduled({}, env, context);
    await Promise.all(work);
    return new Response("swept");
  },
};

type Storage = State["storage"];

/** How many calls of the storage fail from now on, before they reach it. */
type Faults = { left: number };

function faulty(storage: Storage, faults: Faults): Storage {
  const maybe = <T>(call: () => Promise<T>): Promise<T> => {
    if (faults.left === 0) return call();
    faults.left -= 1;
    return Promise.reject(new Error("The storage fails because a test wants it"));
  };
  return {
    get: (key) => maybe(() => storage.get(key)),
    put: (key, value) => maybe(() => storage.put(key, value)),
    delete: (key) => maybe(() => storage.delete(key)),
    list: (options) => maybe(() => storage.list(options)),
  };
}

/** What stays when an object is evicted. */
const objects = new Map<string, string>();

const bucket: R2Bucket = {
  async get(key) {
    const value = objects.get(key);
    return value === undefined ? null : { text: async () => value };
  },
  put: async (key, value) => void objects.set(key, value),
  delete: async (key) => void objects.delete(key),
};

function withBucket(env: WorkerEnv): WorkerEnv {
  return env.TEST_BUCKET === undefined ? env : { ...env, BLOCKS_R2: bucket };
}

class TestedObject extends OwnerObject {
  readonly #state: State;
  readonly #faults: Faults;

  constructor(state: State, env: WorkerEnv) {
    const faults = { left: 0 };
    super({ storage: faulty(state.storage, faults), waitUntil: (work) => state.waitUntil(work) }, withBucket(env));
    this.#state = state;
    this.#faults = faults;
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.has("x-test-evict")) this.#state.abort("evicted by a test");
    const faults = request.headers.get("x-test-store-faults");
    if (faults === null) return super.fetch(request);
    this.#faults.left = Number(faults);
    return new Response("The next calls of the storage will fail");
  }
}

export { TestedObject as OwnerObject };
