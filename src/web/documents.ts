import { AppError } from "../core/errors.ts";
import { decodeBase64 } from "../core/media.ts";
import { EXPORT_FORMATS, exported, MIME_TYPES, script } from "../mcp/exports.ts";
import { renderOutput } from "../render/index.ts";
import { pictureOf } from "../render/pictures.ts";
import type { Caller } from "../sessions/context.ts";
import type { HistoryEntry } from "../sessions/history.ts";
import { countBelow } from "../sessions/positions.ts";
import type { SessionService } from "../sessions/service.ts";

/** An SVG that is opened by itself is a document: it may not do more than one in a page. */
const PICTURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox; frame-ancestors 'none'";

/** Addresses of pictures change with the pictures. Only for this browser: they are somebody's own. */
const PICTURE_CACHE = "private, max-age=3600";

/** @throws AppError INDEX_OUT_OF_RANGE when the block is gone. */
export async function findBlock(
  service: SessionService,
  caller: Caller,
  id: string,
  sequence: number,
): Promise<HistoryEntry> {
  const { live } = await service.find(caller, id);
  const start = countBelow(live, sequence);
  const { entries } = await service.history(caller, id, { start, end: start + 1 });
  const [entry] = entries;
  if (entry?.block.sequence === sequence) return entry;
  throw new AppError("INDEX_OUT_OF_RANGE", "This block is no longer in the history");
}

/** @param position Which of the block's displays, from 0. */
export function pictureResponse({ block }: HistoryEntry, position: number): Response {
  const display = block.outputs.filter((output) => output.type !== "stream")[position];
  const picture = display && pictureOf(display.data);
  if (!picture) throw new AppError("INDEX_OUT_OF_RANGE", "This block has no such picture");
  const { mimeType, content } = picture;
  const body = mimeType === "image/svg+xml" ? content : decodeBase64(content);
  return new Response(body as BodyInit, {
    headers: {
      "Content-Type": mimeType === "image/svg+xml" ? `${mimeType}; charset=utf-8` : mimeType,
      "Content-Security-Policy": PICTURE_POLICY,
      "Cache-Control": PICTURE_CACHE,
    },
  });
}

export function outputResponse({ block }: HistoryEntry): Response {
  return new Response(renderOutput(block), { headers: { "Content-Type": "text/plain; charset=utf-8" } });
}

/** The whole history as a file. @param format An export format, or `py` for the code alone. */
export async function exportResponse(
  service: SessionService,
  caller: Caller,
  id: string,
  format: string,
): Promise<Response> {
  const known = EXPORT_FORMATS.find((name) => name === format);
  if (!known && format !== "py") {
    throw new AppError("INVALID_ARGUMENT", `format must be one of ${[...EXPORT_FORMATS, "py"].join(", ")}`);
  }
  const history = await service.history(caller, id, {});
  const text = known ? exported(known, history) : script(history, false).text;
  return new Response(text, {
    headers: {
      "Content-Type": `${MIME_TYPES[known ?? "py"]}; charset=utf-8`,
      "Content-Disposition": `attachment; filename="${history.record.id}.${format}"`,
    },
  });
}
