/** Frames between server and monitor: 4 bytes big-endian length, then that many bytes of UTF-8 JSON. */

const HEADER_BYTES = 4;

/** Longest frame in either direction; a longer one means that the protocol is broken. */
export const MAX_FRAME_BYTES = 64 * 1024 * 1024;

/** The other side does not speak the protocol. */
export class FrameError extends Error {}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** @throws FrameError when the frame would be longer than MAX_FRAME_BYTES. */
export function encodeFrame(value: object): Uint8Array {
  const body = encoder.encode(JSON.stringify(value));
  if (body.length > MAX_FRAME_BYTES) throw new FrameError(`A frame of ${body.length} bytes is too long`);
  const frame = new Uint8Array(HEADER_BYTES + body.length);
  new DataView(frame.buffer).setUint32(0, body.length);
  frame.set(body, HEADER_BYTES);
  return frame;
}

/** Puts frames together from chunks that were cut anywhere. Each byte is copied at most once. */
export class FrameReader {
  readonly #header = new Uint8Array(HEADER_BYTES);
  #headerFilled = 0;
  #body: Uint8Array | undefined;
  #bodyFilled = 0;

  /**
   * Returns the values of the frames that end in `chunk`, in order.
   * @throws FrameError for a frame that is too long or is no JSON; the reader is of no use afterwards.
   */
  push(chunk: Uint8Array): unknown[] {
    const values: unknown[] = [];
    let at = 0;
    while (at < chunk.length) {
      at = this.#body ? this.#fillBody(chunk, at, values) : this.#fillHeader(chunk, at, values);
    }
    return values;
  }

  #fillHeader(chunk: Uint8Array, from: number, values: unknown[]): number {
    const end = Math.min(chunk.length, from + HEADER_BYTES - this.#headerFilled);
    this.#header.set(chunk.subarray(from, end), this.#headerFilled);
    this.#headerFilled += end - from;
    if (this.#headerFilled < HEADER_BYTES) return end;
    this.#headerFilled = 0;
    const length = new DataView(this.#header.buffer).getUint32(0);
    if (length > MAX_FRAME_BYTES) throw new FrameError(`A frame of ${length} bytes is too long`);
    if (end + length <= chunk.length) {
      values.push(decode(chunk.subarray(end, end + length)));
      return end + length;
    }
    this.#body = new Uint8Array(length);
    this.#bodyFilled = 0;
    return end;
  }

  #fillBody(chunk: Uint8Array, from: number, values: unknown[]): number {
    const body = this.#body ?? new Uint8Array();
    const end = Math.min(chunk.length, from + body.length - this.#bodyFilled);
    body.set(chunk.subarray(from, end), this.#bodyFilled);
    this.#bodyFilled += end - from;
    if (this.#bodyFilled === body.length) {
      this.#body = undefined;
      values.push(decode(body));
    }
    return end;
  }
}

function decode(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes));
  } catch (error) {
    throw new FrameError("A frame is no JSON", { cause: error });
  }
}
