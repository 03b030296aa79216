import { wellFormed } from "../text.ts";

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** @returns Text for elements and quoted attributes that a parser reads back as it was. */
export function entities(text: string): string {
  return wellFormed(text).replace(/[&<>"']/g, (char) => ENTITIES[char] ?? "");
}

/** @returns Text for elements and quoted attributes in which nothing is invisible: see `textHtml`. */
export function escapeHtml(text: string): string {
  return withVisibleControls(text, (name) => name);
}

/**
 * @returns Text for elements. Control characters become symbols, and controls that reorder what stands around them
 * are shown by name, so that code cannot look like other code.
 */
export function textHtml(text: string): string {
  return withVisibleControls(text, (name) => `<span class="control">${name}</span>`);
}

function withVisibleControls(text: string, show: (name: string) => string): string {
  return entities(text)
    .replace(/[\0-\x08\x0b-\x1f]/g, (char) => String.fromCharCode(0x2400 + char.charCodeAt(0)))
    .replaceAll("\x7f", "␡")
    .replace(/[\u202a-\u202e\u2066-\u2069]/g, (char) => show(`U+${char.charCodeAt(0).toString(16).toUpperCase()}`));
}
