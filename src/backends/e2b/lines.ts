/**
 * Splits a byte stream into lines of UTF-8 text, in time linear in its bytes. What follows the last newline is not
 * a line: a stream that was cut has no whole one there.
 * @throws RangeError when a line is longer than `maxBytes`.
 */
export async function* readLines(chunks: AsyncIterable<Uint8Array>, maxBytes: number): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      yield decoder.decode(joined(parts));
      parts = [];
      size = 0;
      from = end + 1;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
    size += chunk.length - from;
    if (size > maxBytes) throw new RangeError(`A line is longer than ${maxBytes} bytes`);
  }
}

/** The bytes of `parts` in one piece. */
export function joined(parts: readonly Uint8Array[]): Uint8Array {
  const [first] = parts;
  if (parts.length === 1 && first) return first;
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/**
 * The chunks of a body, read with a reader since not all runtimes iterate streams.
 * @throws Error after `silenceMs` without a chunk.
 */
export async function* readChunks(body: ReadableStream<Uint8Array>, silenceMs: number): AsyncGenerator<Uint8Array> {
  const reader = body.getReader();
  let giveUp = (): void => undefined;
  const silence = watchSilence(silenceMs, () => giveUp());
  try {
    while (true) {
      silence.broken();
      const { done, value } = await new Promise<ReadableStreamReadResult<Uint8Array>>((resolve, reject) => {
        giveUp = () => reject(new Error(`No byte came for ${silenceMs} ms`));
        reader.read().then(resolve, reject);
      });
      if (done) return;
      yield value;
    }
  } finally {
    silence.end();
    reader.cancel().catch(() => undefined); // it may be broken already
  }
}

/** Calls `onSilence` when `broken` was not called for so long. One timer for all: they are dear on Workers. */
function watchSilence(ms: number, onSilence: () => void): { broken(): void; end(): void } {
  let since = Date.now();
  let timer: ReturnType<typeof setTimeout>;
  const check = (): void => {
    const rest = since + ms - Date.now();
    if (rest <= 0) onSilence();
    timer = setTimeout(check, rest > 0 ? rest : ms);
  };
  timer = setTimeout(check, ms);
  return {
    broken() {
      since = Date.now();
    },
    end: () => clearTimeout(timer),
  };
}
