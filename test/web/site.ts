import { compose } from "../../adapters/compose.ts";
import { listen } from "../../adapters/node.ts";
import { replySettingsOf } from "../../adapters/options.ts";
import { type App, createApp } from "../../src/app.ts";
import { type Environment, parseConfig } from "../../src/config.ts";
import type { Caller } from "../../src/sessions/context.ts";
import type { RunResult } from "../../src/sessions/run.ts";
import type { SessionService } from "../../src/sessions/service.ts";

/** The whole server in this process, on a free loopback port, with Python on this machine. */
export type Site = {
  readonly origin: string;
  readonly app: App;
  readonly service: SessionService;
  /** Lines of the log. */
  readonly logged: string[];
  /** Makes a session with blocks, as an agent would. */
  session(id: string, ...codes: readonly string[]): Promise<void>;
  run(id: string, code: string, timeout?: number): Promise<RunResult>;
  close(): Promise<void>;
};

const LOCAL: Caller = { owner: "local" };

export async function startSite(settings: Environment = {}): Promise<Site> {
  const config = parseConfig({ REPL_STORAGE: "memory", ...settings });
  const logged: string[] = [];
  const log = (event: string, detail?: object): void => void logged.push(`${event} ${JSON.stringify(detail ?? {})}`);
  const { service, close } = await compose(config, log);
  const app = createApp({ config, service, settings: replySettingsOf(config), log, bind: "127.0.0.1" });
  const server = await listen(app, "127.0.0.1", 0);
  const run: Site["run"] = (id, code, timeout) =>
    service.run(LOCAL, id, { kind: "code", code }, { signal: new AbortController().signal, timeout });
  return {
    origin: `http://127.0.0.1:${server.port}`,
    app,
    service,
    logged,
    run,
    async session(id, ...codes) {
      await service.create(LOCAL, { id });
      for (const code of codes) await run(id, code);
    },
    async close() {
      server.stop();
      await app.close();
      await close(0);
    },
  };
}

export type Visit = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Posted as a form. */
  readonly form?: Readonly<Record<string, string>>;
};

/** A request as a browser sends it for a page; what is posted comes from a page of the server. */
export async function visit(
  { app, origin }: Pick<Site, "app" | "origin">,
  path: string,
  { method, headers = {}, form }: Visit = {},
): Promise<{ status: number; headers: Headers; text: string; location: string | null }> {
  const own: Record<string, string> = { accept: "text/html,*/*", host: new URL(origin).host };
  if (form) Object.assign(own, { origin, "sec-fetch-site": "same-origin" });
  const init = { method: method ?? (form ? "POST" : "GET"), headers: { ...own, ...headers } };
  const body = form ? { body: new URLSearchParams(form) } : {};
  const response = await app.fetch(new Request(`${origin}${path}`, { ...init, ...body }));
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, location: response.headers.get("location") };
}

/** What a form of the page would send back. */
export function tokenIn(html: string): string {
  return /name="csrf" value="([^"]+)"/.exec(html)?.[1] ?? "";
}
