/** @jsxImportSource hono/jsx */
import { raw } from "hono/html";
import type { Pulse } from "../sessions/history.ts";
import { PageBar } from "./bar.tsx";
import { ACTIONS_FORM, Action } from "./block-menu.tsx";
import { documentResponse } from "./layout.ts";
import { NoticeLine } from "./notice-line.tsx";
import type { Notice } from "./notices.ts";
import { Time } from "./time.tsx";
import type { Item, Window } from "./view.ts";
import type { Viewer } from "./viewer.ts";

export type SessionPage = {
  readonly id: string;
  readonly viewer: Viewer;
  readonly pulse: Pulse;
  readonly window: Window;
  readonly items: readonly Item[];
  readonly notice: Notice | undefined;
  /** Code that was sent but not run. */
  readonly draft?: string;
  readonly status?: number;
};

const FORMATS = [
  ["ipynb", "Jupyter notebook"],
  ["html", "Web page"],
  ["md", "Markdown"],
  ["txt", "Plain text"],
  ["json", "JSON"],
  ["py", "Python script"],
] as const;

/** A session as a notebook. */
export function sessionPage(page: SessionPage): Response {
  const { id, viewer, pulse, window, status } = page;
  const body = (
    <>
      <a class="skip" href="#items">
        Skip to the blocks
      </a>
      <PageBar viewer={viewer} here={id} />
      <header class="page">
        <h1>{id}</h1>
        <Facts pulse={pulse} total={window.total} />
        <Tools {...page} />
      </header>
      <Blocks {...page} />
      {viewer.canRun && (
        <form id={ACTIONS_FORM} method="post">
          <input type="hidden" name="csrf" value={viewer.csrf} />
        </form>
      )}
    </>
  );
  const refreshWithoutScript = isNewest(page) && pulse.info.busy ? "3" : undefined;
  return documentResponse({ title: id, body: String(body), status, refreshWithoutScript });
}

/** Only the newest blocks change by themselves, and only after them is room for more. */
function isNewest({ window }: SessionPage): boolean {
  return window.to === window.total;
}

function Blocks(page: SessionPage) {
  const { id, viewer, pulse, window, items, notice, draft } = page;
  const newest = isNewest(page);
  const live = newest ? `/s/${id}/live?from=${window.from}` : undefined;
  return (
    <main data-live={live} data-busy={String(pulse.info.busy)}>
      <NoticeLine notice={notice} />
      {window.from > 0 && (
        <nav aria-label="Older blocks" class="pages">
          <a href={`/s/${id}?before=${window.from}`}>Older blocks ({window.from})</a>
        </nav>
      )}
      <div id="items">
        {items.map(({ key, version, html }) => (
          <div data-key={key} data-version={version}>
            {raw(html ?? "")}
          </div>
        ))}
      </div>
      <p id="empty" class="empty" hidden={window.total > 0}>
        No block has run yet.
      </p>
      {newest && viewer.canRun && <Editor id={id} number={window.total + 1} csrf={viewer.csrf} draft={draft} />}
      {!newest && (
        <nav aria-label="Newest blocks" class="pages">
          <a href={`/s/${id}`}>Newest blocks</a>
        </nav>
      )}
    </main>
  );
}

/** @returns Facts of the session as trusted HTML, for a page that is open already. */
export function factsHtml(pulse: Pulse, total: number): string {
  return String(<Facts pulse={pulse} total={total} />);
}

function Facts({ pulse, total }: { readonly pulse: Pulse; readonly total: number }) {
  const { info, record } = pulse;
  const state = info.busy ? "running" : info.alive ? "in memory" : "no interpreter";
  const kind = info.busy ? "busy" : info.alive ? "alive" : "";
  return (
    <ul id="facts">
      <li class={`state ${kind}`}>{state}</li>
      <li>{total === 1 ? "1 block" : `${total} blocks`}</li>
      <li>{info.backend}</li>
      <li>
        created <Time seconds={record.createdAt} />
      </li>
    </ul>
  );
}

function Tools({ id, viewer, pulse }: SessionPage) {
  const { canRun } = viewer;
  return (
    <div class="tools">
      {canRun && (
        <>
          <button
            type="submit"
            id="interrupt"
            form={ACTIONS_FORM}
            formaction={`/s/${id}/interrupt`}
            disabled={!pulse.info.busy}
          >
            Interrupt
          </button>
          <Action to={`/s/${id}/rerun`} confirm="Start a fresh interpreter and run all blocks again?">
            Rerun all
          </Action>
          <Action to={`/s/${id}/restart`} confirm="Start a fresh interpreter? Variables are lost, the history stays.">
            Restart
          </Action>
        </>
      )}
      <details class="menu">
        <summary>Export</summary>
        <div>
          {FORMATS.map(([format, name]) => (
            <a href={`/s/${id}/export/${format}`} download={`${id}.${format}`}>
              {name}
            </a>
          ))}
        </div>
      </details>
      {canRun && (
        <a class="button danger" href={`/s/${id}/delete`}>
          Delete…
        </a>
      )}
    </div>
  );
}

type EditorProps = {
  readonly id: string;
  readonly number: number;
  readonly csrf: string;
  readonly draft?: string | undefined;
};

function Editor({ id, number, csrf, draft }: EditorProps) {
  return (
    <form id="new" class="block editor" method="post" action={`/s/${id}/run`} aria-label="New block">
      <header>
        <span class="number">[{number}]</span>
      </header>
      <div class="body">
        <input type="hidden" name="csrf" value={csrf} />
        <label class="hidden" for="code">
          Python code
        </label>
        <textarea
          id="code"
          name="code"
          placeholder="Python code"
          rows={3}
          spellcheck={false}
          autocapitalize="off"
          autocomplete="off"
          required
        >
          {draft === undefined ? "" : `\n${draft}`}
        </textarea>
        <footer>
          <button type="submit" class="primary">
            Run
          </button>
          <span class="hint">Ctrl + Enter</span>
        </footer>
      </div>
    </form>
  );
}

/** Asks before a session is gone. */
export function deletePage(id: string, viewer: Viewer, total: number): Response {
  const what = total === 1 ? "its 1 block" : `its ${total} blocks`;
  const body = (
    <>
      <PageBar viewer={viewer} here={id} />
      <main class="card">
        <h1>Delete {id}?</h1>
        <p>The session, its variables and {what} of history will be gone for good.</p>
        <form method="post" action={`/s/${id}/delete`}>
          <input type="hidden" name="csrf" value={viewer.csrf} />
          <button type="submit" class="danger">
            Delete the session
          </button>{" "}
          <a href={`/s/${id}`}>Keep it</a>
        </form>
      </main>
    </>
  );
  return documentResponse({ title: `Delete ${id}`, body: String(body) });
}
