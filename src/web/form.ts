import { readText } from "../mcp/body.ts";

/**
 * Reads a posted form within `limit` bytes. Line breaks are `\n`, where browsers send `\r\n`.
 * @returns undefined when the body is too long or no urlencoded form.
 */
export async function readForm(request: Request, limit: number): Promise<URLSearchParams | undefined> {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== "application/x-www-form-urlencoded") return undefined;
  if (Number(request.headers.get("content-length") ?? 0) > limit) return undefined;
  const text = await readText(request, limit);
  return text === undefined ? undefined : new URLSearchParams(text.replaceAll("%0D%0A", "%0A"));
}
