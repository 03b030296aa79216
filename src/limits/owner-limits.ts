import { isEventStream, onEnd } from "../core/response-end.ts";
import { RateLimiter, tooManyRequests } from "./rate-limit.ts";
import { Slots } from "./slots.ts";
import { Turns } from "./turns.ts";

export type OwnerLimitsOptions = {
  /** Requests of an owner per minute; 0: no limit. */
  readonly perMinute: number;
  /** Requests of an owner that may be open at once, streams among them; 0: no limit. */
  readonly open: number;
};

/** A client that has too many requests open is told to come back after this many seconds. */
const RETRY_SECONDS = 1;
/** A refusal is held back this long, in milliseconds: who sends the next request on each answer sends fewer. */
const REFUSAL_DELAY_MS = 100;
const LEAST_BURST = 60;

/** What one owner may ask of the server, so that no owner can keep it from the others. */
export class OwnerLimits {
  readonly #rate: RateLimiter | undefined;
  readonly #slots: Slots | undefined;
  readonly #turns = new Turns();

  constructor({ perMinute, open }: OwnerLimitsOptions) {
    this.#rate = perMinute > 0 ? new RateLimiter({ perMinute, burst: burstOf(perMinute) }) : undefined;
    this.#slots = open > 0 ? new Slots({ perOwner: open, total: Number.POSITIVE_INFINITY }) : undefined;
  }

  /** Counts requests. @returns The refusal to send when they are more than the owner may make. */
  count(owner: string, requests = 1): Response | undefined {
    const rate = this.#rate;
    for (let counted = 0; rate && counted < requests; counted += 1) {
      const wait = rate.take(owner);
      if (wait > 0) return tooManyRequests(wait, rate.perMinute);
    }
    return undefined;
  }

  /** Counts one request and serves it in its turn, or refuses it after a moment, with its body unread. */
  async serve(owner: string, serve: () => Promise<Response>): Promise<Response> {
    if (!this.#rate && !this.#slots) return serve();
    return this.#whileOpen(owner, async () => {
      const refused = this.count(owner);
      if (refused) return later(refused);
      await this.#turns.take(owner);
      return serve();
    });
  }

  /** Serves while the owner has a place for one more open request, which it holds until the response was read. */
  async #whileOpen(owner: string, serve: () => Promise<Response>): Promise<Response> {
    if (!this.#slots) return serve();
    const place = this.#slots.acquire(owner);
    if (!place.ok) return later(tooManyOpen(this.#slots.limits.perOwner));
    try {
      const response = await serve();
      if (response.body && isEventStream(response)) return onEnd(response, { ended: place.release });
      place.release();
      return response;
    } catch (error) {
      place.release();
      throw error;
    }
  }
}

async function later(refusal: Response): Promise<Response> {
  await new Promise((resolve) => setTimeout(resolve, REFUSAL_DELAY_MS));
  return refusal;
}

/** A fifth of a minute's worth at once, but enough for an agent that asks for many things in parallel. */
function burstOf(perMinute: number): number {
  return Math.min(perMinute, Math.max(LEAST_BURST, Math.ceil(perMinute / 5)));
}

function tooManyOpen(open: number): Response {
  const message = `More than ${open} requests are open at once; wait for their replies or close streams`;
  const body = { jsonrpc: "2.0", error: { code: -32000, message }, id: null };
  const headers = { "Retry-After": String(RETRY_SECONDS), "Cache-Control": "no-store" };
  return Response.json(body, { status: 429, headers });
}
