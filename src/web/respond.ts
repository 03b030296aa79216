/** How pages are sent. The app adds the headers that all answers have. */

/**
 * Scripts, styles and connections of this server only. Styles may stand in elements, because frames with HTML of a
 * cell inherit this policy and tables bring their own; nothing that a style could load leads elsewhere.
 */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const PAGE_HEADERS = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": PAGE_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  // With no-referrer, browsers would post forms with the origin `null`, which cannot be told from a stranger's.
  "Referrer-Policy": "same-origin",
  "Cache-Control": "no-store",
};

export function htmlResponse(html: string, status = 200): Response {
  return new Response(html, { status, headers: PAGE_HEADERS });
}

/** Sends a browser on with GET, also after a POST. */
export function redirect(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 303, headers: { Location: location, ...headers } });
}

/** A refusal for scripts. */
export function refused(status: number, error: string, code?: string): Response {
  return Response.json({ error, ...(code === undefined ? {} : { code }) }, { status });
}

/** Does a browser load a page, rather than a script a piece of one? */
export function wantsPage(request: Request): boolean {
  return (request.headers.get("accept") ?? "").includes("text/html");
}
