/** What is told of a response's end: `cancelled` when the client stops reading before it, `ended` either way. */
export type EndNotice = { readonly cancelled?: () => void; readonly ended?: () => void };

export function isEventStream({ headers }: Response): boolean {
  return headers.get("content-type")?.startsWith("text/event-stream") ?? false;
}

/** The same response, that tells its end. */
export function onEnd(response: Response, { cancelled, ended }: EndNotice): Response {
  const reader = response.body?.getReader();
  if (!reader) return response;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read().catch((error: unknown) => {
          ended?.();
          throw error;
        });
        if (!done) return controller.enqueue(value);
        ended?.();
        controller.close();
      },
      async cancel(reason) {
        cancelled?.();
        ended?.();
        await reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}
