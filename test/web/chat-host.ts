import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

type Reply = Parameters<AppBridge["sendToolResult"]>[0];
type Theme = "light" | "dark";

/** A chat that shows MCP Apps, made of the package's own host side; runs in a page of the tests. */
export type Chat = {
  /** Shows the view of a tool call. @returns What the view said of itself. */
  open(html: string, theme?: Theme): Promise<{ name: string; modes: readonly string[] }>;
  partial(args: Record<string, unknown>): Promise<void>;
  input(args: Record<string, unknown>): Promise<void>;
  result(reply: Reply): Promise<void>;
  cancelled(): Promise<void>;
  theme(theme: Theme): void;
  teardown(): Promise<void>;
  /** Heights that the view reported. */
  heights: number[];
};

/** What the specification lets a view do that asks for nothing. */
const POLICY =
  "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
  "media-src 'self' data:; connect-src 'none'";

let bridge: AppBridge;

const chat: Chat = {
  heights: [],
  async open(html, theme = "light") {
    document.querySelector("iframe")?.remove();
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style.cssText = `width: 100%; border: 0; color-scheme: ${theme}`;
    document.body.style.background = theme === "dark" ? "#1b1b1f" : "#ffffff";
    document.body.append(frame);
    const host = frame.contentWindow as Window;
    bridge = new AppBridge(
      null,
      { name: "chat", version: "1.0.0" },
      {},
      { hostContext: { theme, displayMode: "inline" } },
    );
    chat.heights.length = 0;
    bridge.addEventListener("sizechange", ({ height = 0 }) => {
      chat.heights.push(height);
      frame.style.height = `${height}px`;
    });
    const initialized = new Promise<void>((resolve) => bridge.addEventListener("initialized", () => resolve()));
    await bridge.connect(new PostMessageTransport(host, host));
    frame.srcdoc = html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${POLICY}">`);
    await initialized;
    const { availableDisplayModes = [] } = bridge.getAppCapabilities() ?? {};
    return { name: bridge.getAppVersion()?.name ?? "", modes: availableDisplayModes };
  },
  partial: (args) => bridge.sendToolInputPartial({ arguments: args }),
  input: (args) => bridge.sendToolInput({ arguments: args }),
  result: (reply) => bridge.sendToolResult(reply),
  cancelled: () => bridge.sendToolCancelled({ reason: "by the user" }),
  theme: (theme) => bridge.setHostContext({ theme }),
  async teardown() {
    await bridge.teardownResource({});
  },
};

Object.assign(globalThis, { chat });
