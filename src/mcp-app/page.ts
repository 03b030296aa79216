import { STYLES } from "../render/html/styles.ts";
import { VIEW_CODE } from "./view-code.ts";

/** The view of a block inside a chat (MCP Apps): one page, complete in itself, to which the host passes the reply. */
export const VIEW_URI = "ui://edge-python-repl/block.html";
export const VIEW_MIME_TYPE = "text/html;profile=mcp-app";

/** Links a tool to the view; hosts that do not know the extension ignore it. The flat key is for older hosts. */
export const VIEW_TOOL_META = { ui: { resourceUri: VIEW_URI }, "ui/resourceUri": VIEW_URI };

/** The view loads nothing, and draws its own frame. */
export const VIEW_META = { ui: { prefersBorder: false } };

/** A chat is narrow: numbers stand above their blocks. */
const NARROW =
  "body{margin:0;background:none}main{max-width:none;padding:2px}.block{grid-template-columns:minmax(0,1fr);gap:.3rem;margin:0 0 .6rem}" +
  ".block:last-child{margin:0}.block>header{flex-flow:row wrap;align-items:center;gap:.6rem;padding:0 .2rem}.block .time{margin-left:auto}" +
  ".block .number{pointer-events:none}.plain .block>header{display:none}.refused,.changed{margin:0;padding:.5rem .9rem;border-radius:10px;font-size:.9rem}" +
  ".refused{background:var(--error-ground);color:var(--error)}.changed{margin-bottom:.6rem;background:var(--warning-ground);color:var(--warning)}";

const DARK = /@media \(prefers-color-scheme:dark\)\{:root\{([^}]*)\}\}/;

/** The host's theme wins over the system's. */
function themed(styles: string): string {
  return styles.replace(
    DARK,
    ":root[data-theme=light]{color-scheme:light}:root[data-theme=dark]{color-scheme:dark;$1}" +
      "@media (prefers-color-scheme:dark){:root:not([data-theme]){$1}}",
  );
}

/** @returns The page. Its script holds no `</script`. */
export function viewPage(): string {
  return (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' +
    `<title>Python</title><style>${themed(STYLES)}${NARROW}</style></head><body><script>${VIEW_CODE}</script></body></html>`
  );
}
