/** @jsxImportSource hono/jsx */
import { raw } from "hono/html";
import type { SessionInfo } from "../sessions/manage.ts";
import { PageBar } from "./bar.tsx";
import { fingerprint } from "./fingerprint.ts";
import { documentResponse } from "./layout.ts";
import { NoticeLine } from "./notice-line.tsx";
import type { Notice } from "./notices.ts";
import { Time } from "./time.tsx";
import type { Item } from "./view.ts";
import type { Viewer } from "./viewer.ts";

export type SessionsPage = {
  readonly viewer: Viewer;
  readonly sessions: readonly SessionInfo[];
  readonly notice?: Notice | undefined;
  readonly status?: number;
};

/** All sessions, the last used first. */
export function sessionsPage({ viewer, sessions, notice, status }: SessionsPage): Response {
  const body = (
    <>
      <PageBar viewer={viewer} />
      <main class="sessions" data-live="/live" data-busy={String(sessions.some(({ busy }) => busy))}>
        <h1>Sessions</h1>
        <NoticeLine notice={notice} />
        <ul id="items" aria-label="Sessions">
          {viewSessions(sessions).map(({ key, version, html }) => (
            <li data-key={key} data-version={version}>
              {raw(html ?? "")}
            </li>
          ))}
        </ul>
        <p id="empty" hidden={sessions.length > 0}>
          No session yet: your agent makes one with create_session{viewer.canRun ? ", or you do here" : ""}.
        </p>
        {viewer.canRun && <CreateForm csrf={viewer.csrf} />}
      </main>
    </>
  );
  return documentResponse({ title: "Sessions", body: String(body), status });
}

function CreateForm({ csrf }: { readonly csrf: string }) {
  return (
    <form class="create" method="post" action="/sessions">
      <input type="hidden" name="csrf" value={csrf} />
      <label for="session_id">New session</label>
      <input
        id="session_id"
        name="session_id"
        placeholder="name, or empty for a generated one"
        pattern="[A-Za-z0-9][A-Za-z0-9._\-]{0,63}"
        title="1 to 64 of A-Z a-z 0-9 . _ - starting with a letter or digit"
        autocomplete="off"
        autocapitalize="off"
      />
      <button type="submit" class="primary">
        Create
      </button>
    </form>
  );
}

/** @param known Versions that the page has, by session. */
export function viewSessions(sessions: readonly SessionInfo[], known: ReadonlyMap<string, string> = new Map()): Item[] {
  const sorted = [...sessions].sort((a, b) => b.last_used_at - a.last_used_at);
  return sorted.map((info) => {
    const key = info.session_id;
    const version = fingerprint(JSON.stringify(info));
    return known.get(key) === version ? { key, version } : { key, version, html: String(<SessionRow {...info} />) };
  });
}

function SessionRow({ session_id, history_count, alive, busy, backend, last_used_at }: SessionInfo) {
  const state = busy ? "running" : alive ? "in memory" : "no interpreter";
  return (
    <a class="row" href={`/s/${session_id}`}>
      <strong>{session_id}</strong>
      <span class={`state ${busy ? "busy" : alive ? "alive" : ""}`}>{state}</span>
      <span>{history_count === 1 ? "1 block" : `${history_count} blocks`}</span>
      <span>{backend}</span>
      <span class="last">
        <Time seconds={last_used_at} />
      </span>
    </a>
  );
}
