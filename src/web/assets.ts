import { STYLES } from "../render/html/index.ts";
import { PAGE_SCRIPT } from "./client-code.ts";
import { fingerprint } from "./fingerprint.ts";
import { PAGE_STYLES } from "./styles.ts";

const STYLE = STYLES + PAGE_STYLES;

/** The addresses change with the content, so that browsers may keep the files. */
export const STYLE_PATH = `/assets/page.css?v=${fingerprint(STYLE)}`;
export const SCRIPT_PATH = `/assets/page.js?v=${fingerprint(PAGE_SCRIPT)}`;

/** @returns Style and script of the pages; they hold no secrets and need no login. */
export function asset(path: string): Response | undefined {
  if (path === "/assets/page.css") return file(STYLE, "text/css");
  if (path === "/assets/page.js") return file(PAGE_SCRIPT, "text/javascript");
  return undefined;
}

function file(text: string, type: string): Response {
  const headers = { "Content-Type": `${type}; charset=utf-8`, "Cache-Control": "public, max-age=31536000, immutable" };
  return new Response(text, { headers });
}
