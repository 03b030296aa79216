import { entities, escapeHtml } from "./escape.ts";

/** Larger documents are not shown; their plain text is. */
const MAX_CHARS = 2 * 1024 * 1024;
const [MIN_HEIGHT, MAX_HEIGHT, ROW_HEIGHT] = [80, 480, 26];

/** What a frame may load: nothing. It inherits the page's policy too, and a sandbox without permissions. */
const POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; font-src data:; form-action 'none'";

const STYLE =
  ":root{color-scheme:light dark}body{margin:8px;font:14px/1.45 system-ui,sans-serif;overflow-wrap:anywhere}" +
  "table{border-collapse:collapse;font-size:13px}th,td{padding:3px 9px;text-align:right;border:1px solid #8884}" +
  "th{font-weight:600}img{max-width:100%}";

/**
 * @returns HTML that came from a cell, in a frame where it can neither run scripts, nor reach the page, nor load
 * anything; undefined when it is too large.
 */
export function frameHtml(html: string, label: string): string | undefined {
  if (html.length > MAX_CHARS) return undefined;
  const head = `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${POLICY}">`;
  const source = entities(`${head}<style>${STYLE}</style>${html}`);
  const title = escapeHtml(`HTML of ${label}`);
  return `<iframe class="html" sandbox title="${title}" height="${heightOf(html)}" loading="lazy" srcdoc="${source}"></iframe>`;
}

/** A guess, since a sandboxed frame cannot tell: by its rows of tables and its blocks of text. */
function heightOf(html: string): number {
  const rows = html.match(/<(?:tr|p|div|li|h[1-6]|br|pre)\b/gi)?.length ?? 0;
  return Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, 40 + rows * ROW_HEIGHT));
}
