import { escapeHtml } from "../render/html/index.ts";
import { SCRIPT_PATH, STYLE_PATH } from "./assets.ts";
import { htmlResponse } from "./respond.ts";

export type Document = {
  readonly title: string;
  /** Trusted HTML. */
  readonly body: string;
  readonly status?: number | undefined;
  /** Content of a refresh instruction, for everybody or for readers without scripts. */
  readonly refresh?: string | undefined;
  readonly refreshWithoutScript?: string | undefined;
};

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' rx='4' " +
  "fill='%230b5cad'/%3E%3Cpath d='M4 5l3 3-3 3M8.5 11H12' fill='none' stroke='%23fff' stroke-width='1.6'/%3E%3C/svg%3E";

/** @returns A whole page. Its script and style are files of this server. */
export function documentResponse({ title, body, status, refresh, refreshWithoutScript }: Document): Response {
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeHtml(title)} · Python</title>
<link rel="icon" href="${ICON}">
<link rel="stylesheet" href="${STYLE_PATH}">
<script src="${SCRIPT_PATH}" defer></script>
${refreshTag(refresh)}${refreshWithoutScript ? `<noscript>${refreshTag(refreshWithoutScript)}</noscript>` : ""}
</head>
<body>
${body}
</body>
</html>
`;
  return htmlResponse(html, status);
}

function refreshTag(content: string | undefined): string {
  return content === undefined ? "" : `<meta http-equiv="refresh" content="${escapeHtml(content)}">`;
}
