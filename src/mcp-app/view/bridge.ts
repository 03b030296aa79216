/** The little of the MCP Apps protocol (2026-01-26) that a view needs: JSON-RPC 2.0 by `postMessage` with its host. */

const PROTOCOL_VERSION = "2026-01-26";

type Params = Readonly<Record<string, unknown>>;
type Message = {
  readonly jsonrpc?: string;
  readonly id?: string | number;
  readonly method?: string;
  readonly params?: Params;
  readonly result?: Params;
};

export type Handlers = {
  /** The host's context, whole at first, later what changed of it. */
  context(context: Params): void;
  /** A notification of the host, without the prefix `ui/notifications/`. */
  notified(name: string, params: Params): void;
};

const NOTIFICATION = "ui/notifications/";

/** Introduces the view to its host and passes on what it says. */
export function connect(version: string, handlers: Handlers): void {
  const host = window.parent;
  // The host's origin is not known to a view; only the window that embeds it is listened to.
  const send = (message: object): void => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
  const notify = (name: string, params: Params = {}): void => send({ method: NOTIFICATION + name, params });

  window.addEventListener("message", ({ source, data }: MessageEvent<Message>) => {
    if (source !== host || data?.jsonrpc !== "2.0") return;
    const { id, method, params = {}, result } = data;
    if (method === undefined) {
      if (id !== 0 || !result) return;
      handlers.context((result.hostContext as Params | undefined) ?? {});
      notify("initialized");
      reportSize(notify);
    } else if (id !== undefined) send(answer(id, method));
    else if (method === `${NOTIFICATION}host-context-changed`) handlers.context(params);
    else if (method.startsWith(NOTIFICATION)) handlers.notified(method.slice(NOTIFICATION.length), params);
  });
  const params = {
    appInfo: { name: "edge-python-repl", version },
    appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
    protocolVersion: PROTOCOL_VERSION,
  };
  send({ id: 0, method: "ui/initialize", params });
}

/** Nothing has to be saved before a teardown; a view offers nothing else. */
function answer(id: string | number, method: string): object {
  if (method === "ping" || method === "ui/resource-teardown") return { id, result: {} };
  return { id, error: { code: -32601, message: `Method not found: ${method}` } };
}

/** Tells the host how large the view is, now and whenever that changes. */
function reportSize(notify: (name: string, params: Params) => void): void {
  let last = "";
  const report = (): void => {
    const { width, height } = document.body.getBoundingClientRect();
    const size = { width: Math.ceil(width), height: Math.ceil(height) };
    if (JSON.stringify(size) === last) return;
    last = JSON.stringify(size);
    notify("size-changed", size);
  };
  new ResizeObserver(report).observe(document.body);
  report();
}
