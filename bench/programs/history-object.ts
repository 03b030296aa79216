import { type DurableObjectStorage, openDurableObject } from "../../adapters/drivers/durable-object.ts";
import { createSubject, type Subject } from "./subject.ts";

type Env = {
  readonly OWNERS: {
    idFromName(name: string): unknown;
    get(id: unknown): { fetch(request: Request): Promise<Response> };
  };
};

/** An object whose storage is measured from outside, since inside no time passes: `/TASK?session=…&…`. */
export class OwnerObject {
  readonly #subject: Subject;

  constructor({ storage }: { readonly storage: DurableObjectStorage }) {
    this.#subject = createSubject(openDurableObject(storage));
  }

  async fetch(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const session = searchParams.get("session") ?? "";
    const [from, to] = [Number(searchParams.get("from")), Number(searchParams.get("to"))];
    if (pathname === "/fill") await this.#subject.fill(session, from, to);
    // As often as asked: the way to the object takes longer than the work in it.
    for (let count = Number(searchParams.get("count") ?? 0); count > 0; count -= 1) {
      if (pathname === "/history") await this.#subject.history(session, to);
      if (pathname === "/append") await this.#subject.append(session);
    }
    return new Response("done");
  }
}

export default {
  fetch: (request: Request, { OWNERS }: Env): Promise<Response> =>
    OWNERS.get(OWNERS.idFromName("owner")).fetch(request),
};
