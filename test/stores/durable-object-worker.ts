import { type DurableObjectStorage, openDurableObject } from "../../adapters/drivers/durable-object.ts";
import { storeChecks } from "../contract/store-checks.ts";

type Namespace = {
  idFromName(name: string): unknown;
  get(id: unknown): { fetch(request: Request): Promise<Response> };
};
type Outcome = { readonly id: string; readonly error: string | null };

/** Runs the store contract on the storage of the object that it is. */
export class StoreObject {
  readonly #storage: DurableObjectStorage;

  constructor(state: { readonly storage: DurableObjectStorage }) {
    this.#storage = state.storage;
  }

  async fetch(): Promise<Response> {
    const supports = { sharing: false };
    const subject = { supports, open: async () => openDurableObject(this.#storage) };
    const outcomes: Outcome[] = [];
    for (const { id, needs, run } of storeChecks) {
      if (needs !== undefined && !supports[needs]) continue;
      const error = await run(subject).then(
        () => null,
        (reason: unknown) => (reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)),
      );
      outcomes.push({ id, error });
    }
    return Response.json(outcomes);
  }
}

export default {
  fetch(request: Request, env: { readonly STORE: Namespace }): Promise<Response> {
    return env.STORE.get(env.STORE.idFromName("one")).fetch(request);
  },
};
