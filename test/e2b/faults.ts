import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";

/** What is to go wrong with the next `times` requests that match. */
export type Fault = {
  readonly plane?: "control" | "data";
  readonly port?: number;
  readonly method?: string;
  /** A prefix of the path. */
  readonly path?: string;
  /** How many matching requests are served normally before. */
  readonly skip?: number;
  readonly times?: number;
  /** Waits first; alone it only makes the request slow. */
  readonly delayMs?: number;
  /** Answers with this instead of serving. */
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** Drops the connection instead of answering. */
  readonly reset?: boolean;
  /** Does what was asked, and drops the connection instead of telling so. */
  readonly loseAnswer?: boolean;
  /** Body of the answer: after so many bytes drop the connection, end it cleanly, or say nothing more. */
  readonly cutAfterBytes?: number;
  readonly endAfterBytes?: number;
  readonly stallAfterBytes?: number;
  /** Non-ASCII text is sent as UTF-8 instead of escaped. */
  readonly rawUtf8?: boolean;
  /** The body is sent in pieces of so many bytes. */
  readonly chunkBytes?: number;
};

export type Target = {
  readonly plane: "control" | "data";
  readonly port: number;
  readonly method: string;
  readonly path: string;
};

type Armed = { readonly fault: Fault; skip: number; left: number };

/** The faults in order; the first that matches a request is used up by it. */
export class Faults {
  private armed: Armed[] = [];

  add(fault: Fault): void {
    this.armed.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
  }

  clear(): void {
    this.armed = [];
  }

  take(target: Target): Fault | undefined {
    for (const armed of this.armed) {
      if (!matches(armed.fault, target)) continue;
      if (armed.skip > 0) {
        armed.skip -= 1;
        continue;
      }
      armed.left -= 1;
      if (armed.left <= 0) this.armed = this.armed.filter((other) => other !== armed);
      return armed.fault;
    }
    return undefined;
  }
}

function matches(fault: Fault, target: Target): boolean {
  if (fault.plane !== undefined && fault.plane !== target.plane) return false;
  if (fault.port !== undefined && fault.port !== target.port) return false;
  if (fault.method !== undefined && fault.method !== target.method) return false;
  return fault.path === undefined || target.path.startsWith(fault.path);
}

/** Applies the part of a fault that comes before the answer; true when nothing else is to be sent. */
export async function answersInstead(
  fault: Fault | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<boolean> {
  if (!fault) return false;
  if (fault.delayMs) await wait(fault.delayMs);
  if (fault.reset) {
    request.socket.destroy();
    return true;
  }
  if (fault.loseAnswer) {
    response.writeHead = () => response;
    response.end = () => {
      request.socket.destroy();
      return response;
    };
  }
  if (fault.status === undefined) return false;
  const body =
    typeof fault.body === "string"
      ? fault.body
      : JSON.stringify(fault.body ?? { code: fault.status, message: "fault" });
  response.writeHead(fault.status, { "content-type": "application/json", ...fault.headers });
  response.end(body);
  return true;
}

/** Writes a streamed body as a fault wants it. */
export class BodyWriter {
  private readonly response: ServerResponse;
  private readonly fault: Fault;
  private sent = 0;
  private stopped = false;

  constructor(response: ServerResponse, fault: Fault | undefined) {
    this.response = response;
    this.fault = fault ?? {};
  }

  get rawUtf8(): boolean {
    return this.fault.rawUtf8 ?? false;
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    const size = this.fault.chunkBytes ?? bytes.length;
    for (let at = 0; at < bytes.length && !this.stopped; at += size) await this.send(bytes.subarray(at, at + size));
  }

  end(): void {
    if (!this.stopped) this.response.end();
  }

  private async send(piece: Buffer): Promise<void> {
    const { cutAfterBytes, endAfterBytes, stallAfterBytes } = this.fault;
    const limit = cutAfterBytes ?? endAfterBytes ?? stallAfterBytes ?? Number.POSITIVE_INFINITY;
    const part = piece.subarray(0, Math.max(0, limit - this.sent));
    this.sent += part.length;
    if (part.length > 0) await this.flush(part);
    if (this.sent < limit) return;
    this.stopped = true;
    if (cutAfterBytes !== undefined) this.response.socket?.destroy();
    else if (endAfterBytes !== undefined) this.response.end();
  }

  private flush(part: Buffer): Promise<void> {
    return new Promise((resolve) => {
      if (this.response.destroyed) return resolve();
      const end = (): void => {
        this.response.off("close", end);
        resolve();
      };
      this.response.once("close", end);
      this.response.write(part, end);
    });
  }
}
