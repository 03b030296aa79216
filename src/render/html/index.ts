/** The pieces of a notebook page: for the exported file and for a live page. */
export { type BlockHtmlOptions, durationOf, renderBlockHtml } from "./block.ts";
export { escapeHtml, textHtml } from "./escape.ts";
export { highlightPython } from "./highlight.ts";
export { PAGE_POLICY, type Page, renderPage } from "./page.ts";
export { STYLES } from "./styles.ts";
