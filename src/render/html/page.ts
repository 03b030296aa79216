import { escapeHtml } from "./escape.ts";
import { STYLES } from "./styles.ts";

export type Page = {
  readonly title: string;
  /** Short facts under the title. */
  readonly facts: readonly string[];
  /** Trusted HTML. */
  readonly body: string;
};

/** No scripts, no connections, nothing loaded: pictures are in the file, styles are ours. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** @returns A document of one file that shows the same everywhere, in light and dark. */
export function renderPage({ title, facts, body }: Page): string {
  const name = escapeHtml(title);
  const list = facts.map((fact) => `<li>${escapeHtml(fact)}</li>`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${PAGE_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<meta name="generator" content="edge-python-repl">
<title>${name} · Python session</title>
<style>${STYLES}</style>
</head>
<body>
<header class="page"><p>Python session</p><h1>${name}</h1><ul>${list}</ul></header>
<main>
${body}
</main>
</body>
</html>
`;
}
