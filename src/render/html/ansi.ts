import { type AnsiColour, type AnsiStyle, paletteColour, tokenizeAnsi } from "../../core/terminal.ts";
import { textHtml } from "./escape.ts";

const FLAGS = ["bold", "dim", "italic", "underline", "strike"] as const;

/**
 * @returns Printed text as HTML. The 16 colours are classes (`fg-1`, `bg-12`), so that they suit the page's theme;
 * other colours are inline styles.
 */
export function ansiHtml(text: string): string {
  return tokenizeAnsi(text)
    .map(({ text, style }) => {
      const attributes = attributesOf(style);
      return attributes === "" ? textHtml(text) : `<span${attributes}>${textHtml(text)}</span>`;
    })
    .join("");
}

function attributesOf(style: AnsiStyle): string {
  const classes: string[] = FLAGS.filter((flag) => style[flag]);
  const styles: string[] = [];
  const [fg, bg] = style.inverse ? [style.bg, style.fg] : [style.fg, style.bg];
  const paint = (colour: AnsiColour | undefined, name: "fg" | "bg", property: string): void => {
    const rgb = typeof colour === "number" ? paletteColour(colour) : colour;
    if (rgb !== undefined) styles.push(`${property}:${rgb}`);
    else if (colour !== undefined) classes.push(`${name}-${colour}`);
    else if (style.inverse) classes.push(`${name}-inverse`);
  };
  paint(fg, "fg", "color");
  paint(bg, "bg", "background");
  const named = classes.length > 0 ? ` class="${classes.join(" ")}"` : "";
  return styles.length > 0 ? `${named} style="${styles.join(";")}"` : named;
}
