import { isEventStream } from "../core/response-end.ts";

/** An answer that takes longer than this, in milliseconds, becomes a stream. */
const STREAM_AFTER_MS = 200;

const STREAM_HEADERS = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no",
};

/**
 * Where only a write shows that a client has gone, a call must answer with a stream before its work is done. This one
 * begins only when the answer takes a while, so that quick answers, errors above all, keep their HTTP status.
 * @param serve Answers the request. Its signal fires when the client has gone.
 */
export async function streamWhenSlow(
  request: Request,
  serve: (request: Request) => Promise<Response>,
  keepAliveMs: number,
): Promise<Response> {
  const gone = new AbortController();
  const signal = AbortSignal.any([request.signal, gone.signal]);
  const { url, method, headers } = request;
  const answer = serve(new Request(url, { method, headers, signal }));
  let timer: ReturnType<typeof setTimeout> | undefined;
  const slow = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), STREAM_AFTER_MS);
  });
  try {
    const early = await Promise.race([answer, slow]);
    return early ?? new Response(streamOf(answer, gone, keepAliveMs), { headers: STREAM_HEADERS });
  } finally {
    clearTimeout(timer);
  }
}

/** Signs of life until the answer comes; then its events, or the one event that its JSON makes. */
function streamOf(answer: Promise<Response>, gone: AbortController, keepAliveMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let timer: ReturnType<typeof setInterval> | undefined;
  const pump = async (controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> => {
    const response = await answer.finally(() => clearInterval(timer));
    if (isEventStream(response) && response.body) {
      reader = response.body.getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) controller.enqueue(part.value);
    } else {
      const text = await response.text();
      if (text !== "") controller.enqueue(encoder.encode(`event: message\ndata: ${text}\n\n`));
    }
    controller.close();
  };
  return new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(() => controller.enqueue(encoder.encode(": keep-alive\n\n")), keepAliveMs);
      controller.enqueue(encoder.encode(": the answer takes a while\n\n"));
      pump(controller).catch((error: unknown) => {
        if (!gone.signal.aborted) controller.error(error);
      });
    },
    async cancel(reason) {
      clearInterval(timer);
      gone.abort(reason);
      await reader?.cancel(reason);
    },
  });
}
