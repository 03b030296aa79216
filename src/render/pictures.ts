import type { MimeBundle } from "../core/execution.ts";
import { wellFormed } from "./text.ts";

export type Picture = {
  readonly mimeType: "image/png" | "image/jpeg" | "image/svg+xml";
  /** Base64, or the text of an SVG. */
  readonly content: string;
  /** What the display's plain text says about it, on one line. */
  readonly alt: string;
};

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;
const ALT_CHARS = 200;

/** @returns The picture of a display, PNG before JPEG before SVG, or undefined when it has none that is valid. */
export function pictureOf(data: MimeBundle): Picture | undefined {
  const alt = wellFormed((data["text/plain"] ?? "Picture").slice(0, ALT_CHARS))
    .replace(/\s+/g, " ")
    .trim();
  for (const mimeType of ["image/png", "image/jpeg"] as const) {
    const content = (data[mimeType] ?? "").replace(/\s+/g, "");
    if (BASE64.test(content)) return { mimeType, content, alt };
  }
  const svg = data["image/svg+xml"];
  return svg === undefined ? undefined : { mimeType: "image/svg+xml", content: wellFormed(svg), alt };
}

/** @returns A data URI without quotes, parentheses or angle brackets, so that it can stand in any markup. */
export function dataUri({ mimeType, content }: Picture): string {
  if (mimeType !== "image/svg+xml") return `data:${mimeType};base64,${content}`;
  const encoded = encodeURIComponent(content).replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`);
  return `data:image/svg+xml,${encoded}`;
}
