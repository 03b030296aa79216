import { wellFormed } from "../text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** @returns Text as HTML, in elements and quoted attributes alike; control characters become visible symbols. */
export function escapeHtml(text: string): string {
  return wellFormed(text)
    .replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "")
    .replace(/[\0-\x08\x0b-\x1f\x7f]/g, (char) =>
      char === "\x7f" ? "␡" : String.fromCharCode(0x2400 + char.charCodeAt(0)),
    );
}

/**
 * @returns Text as HTML for elements. Controls that reorder what stands around them are shown by name instead, so that
 * code cannot look like other code.
 */
export function textHtml(text: string): string {
  return escapeHtml(text).replace(
    /[\u202a-\u202e\u2066-\u2069]/g,
    (char) => `<span class="control">U+${char.charCodeAt(0).toString(16).toUpperCase()}</span>`,
  );
}
