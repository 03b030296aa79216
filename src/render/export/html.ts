import { renderBlockHtml } from "../html/block.ts";
import { renderPage } from "../html/page.ts";
import { counted } from "../text.ts";
import { type ExportedHistory, timeOf } from "./history.ts";

/** One self-contained page. */
export function exportHtml({ sessionId, createdAt, backend, entries }: ExportedHistory): string {
  const blocks = entries.map((entry) => renderBlockHtml(entry));
  return renderPage({
    title: sessionId,
    facts: [counted(entries.length, "block"), backend, `created ${timeOf(createdAt)}`],
    body: blocks.length > 0 ? blocks.join("\n") : '<p class="empty">No block has run yet.</p>',
  });
}
