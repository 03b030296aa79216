import type { Line } from "./context.ts";

const NAMED: Record<string, string> = {
  "text/html": "html",
  "text/markdown": "markdown",
  "image/svg+xml": "svg",
  "image/png": "png",
  "image/jpeg": "jpeg",
  "application/pdf": "pdf",
  "text/latex": "latex",
  "application/json": "json",
  "application/javascript": "javascript",
  "e2b/data": "data",
  "e2b/chart": "chart",
};

/** A MIME bundle as the server tells it: known types by short names, the rest nested under `extra`. */
export function resultLine(bundle: Record<string, unknown>, isMain: boolean): Line {
  const named: Record<string, unknown> = {};
  const extra: Record<string, unknown> = {};
  for (const [mime, content] of Object.entries(bundle)) {
    const short = NAMED[mime];
    if (short) named[short] = content;
    else if (mime !== "text/plain") extra[mime] = content;
  }
  const text = bundle["text/plain"];
  return {
    type: "result",
    ...(typeof text === "string" ? { text: withoutQuotes(text) } : {}),
    ...named,
    extra,
    is_main_result: isMain,
  };
}

/** The server takes the quotes of a string's repr away. */
function withoutQuotes(text: string): string {
  const quoted = /^'[\s\S]*'$/.test(text) || /^"[\s\S]*"$/.test(text);
  return quoted ? text.slice(1, -1) : text;
}
