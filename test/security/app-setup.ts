import { createStorage, type Storage } from "unstorage";
import { createLog } from "../../adapters/log.ts";
import { limitsOf, replySettingsOf } from "../../adapters/options.ts";
import { type App, createApp } from "../../src/app.ts";
import { sha256, toHex } from "../../src/auth/bytes.ts";
import { newToken } from "../../src/auth/static-tokens.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import type { Backend } from "../../src/core/backend.ts";
import { createSessionService } from "../../src/sessions/service.ts";
import { createHistoryStore } from "../../src/store/history-store.ts";
import { createLocalLocks } from "../../src/store/locks.ts";
import { createFakeBackend, type FakeBackend } from "./fake-backend.ts";
import { type HttpClient, httpClient } from "./http-client.ts";

export const ORIGIN = "https://repl.example";

export type TestApp = {
  readonly app: App;
  readonly config: Config;
  readonly storage: Storage;
  /** Lines of the log, as they are written. */
  readonly log: string[];
  /** The log's lines of one kind. */
  events(name: string): Readonly<Record<string, unknown>>[];
  /** A client in this process; `name` is one of the tokens. */
  client(name?: string, headers?: Readonly<Record<string, string>>): HttpClient;
  send(path: string, init?: RequestInit): Promise<Response>;
  close(): Promise<void>;
};

export type AppSettings = {
  /** Names of tokens to make; `bob:read` has that scope only. None: no authentication. */
  readonly tokens?: readonly string[];
  readonly settings?: Readonly<Record<string, string>>;
  readonly backend?: Backend;
  readonly storage?: Storage;
  readonly bind?: string;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
};

/** The whole app over a store in memory, with tokens for its callers. */
export async function makeApp(options: AppSettings = {}): Promise<TestApp> {
  const { tokens = [], now = Date.now, storage = createStorage() } = options;
  const secrets = new Map(tokens.map((entry) => [entry.split(":")[0] ?? "", newToken()]));
  const entries = await Promise.all(
    tokens.map(async (entry) => {
      const [name = "", scopes = ""] = entry.split(":");
      return `${name}:${toHex(await sha256(secrets.get(name) ?? ""))}:${scopes}`;
    }),
  );
  const auth = tokens.length > 0 ? { REPL_AUTH: "token", REPL_TOKENS: entries.join(" ") } : {};
  const config = parseConfig({ ...auth, ...options.settings });
  const log: string[] = [];
  const write = createLog(config.REPL_LOG, (line) => void log.push(line));
  const store = createHistoryStore({
    storage,
    locks: createLocalLocks(),
    log: (message) => write("store", { message }),
  });
  const service = createSessionService({
    store,
    backend: options.backend ?? createFakeBackend(),
    limits: limitsOf(config),
    recovery: config.REPL_RECOVERY,
    allowUrls: config.REPL_ALLOW_URLS,
    now,
    log: write,
  });
  const bind = options.bind === undefined ? {} : { bind: options.bind };
  const app = createApp({ config, service, settings: replySettingsOf(config), log: write, ...bind });
  const bearer = (name: string | undefined): Record<string, string> =>
    name === undefined ? {} : { authorization: `Bearer ${secrets.get(name) ?? name}` };
  return {
    app,
    config,
    storage,
    log,
    events: (name) => log.map((line) => JSON.parse(line)).filter(({ event }) => event === name),
    client: (name, headers = {}) =>
      httpClient(`${ORIGIN}/mcp`, { ...bearer(name), ...headers }, (request) => app.fetch(request)),
    send: (path, init) => app.fetch(new Request(`${ORIGIN}${path}`, init)),
    async close() {
      await service.close(0);
      await app.close();
    },
  };
}

export type { FakeBackend };
