import type { StandIn } from "./stand-in.ts";

/** What the answer to a create holds, as far as the tests look. */
export type Created = {
  readonly sandboxID: string;
  readonly envdAccessToken: string;
  readonly trafficAccessToken: string | null;
} & Record<string, unknown>;

/** A bare client of the wire format, so that the stand-in is not only tested by what uses it. */
export class WireClient {
  readonly standIn: StandIn;

  constructor(standIn: StandIn) {
    this.standIn = standIn;
  }

  control(method: string, path: string, body?: unknown, key = this.standIn.apiKey): Promise<Response> {
    const init =
      body === undefined ? {} : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const headers = { "X-API-KEY": key, ...init.headers };
    return fetch(`${this.standIn.apiUrl}${path}`, { method, ...init, headers });
  }

  async create(body: Record<string, unknown> = {}): Promise<Created> {
    const response = await this.control("POST", "/v2/sandboxes", {
      templateID: "code-interpreter-v1",
      timeout: 60,
      ...body,
    });
    if (response.status !== 201) throw new Error(`create answered ${response.status}: ${await response.text()}`);
    return (await response.json()) as Created;
  }

  port(sandbox: Created, port: number, path: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
    const { json, ...rest } = init;
    const headers: Record<string, string> = {
      "E2b-Sandbox-Id": sandbox.sandboxID,
      "E2b-Sandbox-Port": String(port),
      "X-Access-Token": sandbox.envdAccessToken,
      ...(sandbox.trafficAccessToken === null ? {} : { "E2B-Traffic-Access-Token": sandbox.trafficAccessToken }),
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...(rest.headers as Record<string, string> | undefined),
    };
    const body = json === undefined ? {} : { method: "POST", body: JSON.stringify(json) };
    return fetch(`${this.standIn.sandboxUrl}${path}`, { ...body, ...rest, headers });
  }

  execute(
    sandbox: Created,
    code: string,
    init: RequestInit & { more?: Record<string, unknown> } = {},
  ): Promise<Response> {
    const { more, ...rest } = init;
    return this.port(sandbox, 49999, "/execute", { json: { code, ...more }, ...rest });
  }

  /** The lines of a cell's answer, parsed. */
  async lines(sandbox: Created, code: string): Promise<Record<string, unknown>[]> {
    const text = await (await this.execute(sandbox, code)).text();
    return text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  }

  /** The text of a cell's value. */
  async value(sandbox: Created, code: string): Promise<unknown> {
    return (await this.lines(sandbox, code)).find((line) => line.type === "result")?.text;
  }
}

/** Reads a stream until its text has `wanted`; the rest stays unread. */
export async function readUntil(response: Response, wanted: string): Promise<string> {
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (reader && !text.includes(wanted)) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`The stream ended before ${JSON.stringify(wanted)}: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  reader?.releaseLock();
  return text;
}

/** Asks again and again until it is so. */
export async function until(what: string, isSo: () => Promise<boolean> | boolean, limitMs = 10_000): Promise<void> {
  for (const from = performance.now(); !(await isSo()); ) {
    if (performance.now() - from > limitMs) throw new Error(`It did not come to be within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
