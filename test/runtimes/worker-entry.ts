import worker, { OwnerObject } from "../../adapters/cloudflare.ts";

/**
 * The Worker as it is deployed, with two things more: an object that is told to is evicted, in the middle of its work,
 * and the cron can be asked for.
 */

type WorkerEnv = Parameters<typeof worker.fetch>[1];
type Context = Parameters<typeof worker.scheduled>[2];
type State = ConstructorParameters<typeof OwnerObject>[0] & { abort(reason: string): void };

export default {
  async fetch(request: Request, env: WorkerEnv): Promise<Response> {
    if (new URL(request.url).pathname !== "/__scheduled") return worker.fetch(request, env);
    const work: Promise<unknown>[] = [];
    const context: Context = { waitUntil: (task) => void work.push(task) };
    await worker.scheduled({}, env, context);
    await Promise.all(work);
    return new Response("swept");
  },
};

class EvictableObject extends OwnerObject {
  readonly #owner: State;

  constructor(state: State, env: WorkerEnv) {
    super(state, env);
    this.#owner = state;
  }

  override async fetch(request: Request): Promise<Response> {
    if (request.headers.has("x-test-evict")) this.#owner.abort("evicted by a test");
    return super.fetch(request);
  }
}

export { EvictableObject as OwnerObject };
