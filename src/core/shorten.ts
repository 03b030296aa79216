/** Characters of a caller's text that an error repeats. */
const MOST = 80;

/** The beginning of a text that came from outside, for an error that names it: errors must not grow with what they refuse. */
export function shorten(text: string, most = MOST): string {
  return text.length > most ? `${text.slice(0, most - 3)}...` : text;
}
