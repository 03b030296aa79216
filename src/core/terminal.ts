/** What a terminal makes of printed text: carriage returns, backspaces and escape sequences. */

/** A palette index (0–255) or a colour as `#rrggbb`. */
export type AnsiColour = number | `#${string}`;

export type AnsiStyle = {
  readonly fg?: AnsiColour;
  readonly bg?: AnsiColour;
  readonly bold?: true;
  readonly dim?: true;
  readonly italic?: true;
  readonly underline?: true;
  readonly inverse?: true;
  readonly strike?: true;
};

export type AnsiRun = { readonly text: string; readonly style: AnsiStyle };

const PLAIN: AnsiStyle = {};

/**
 * One escape sequence: CSI, OSC, other strings, or two characters. The classes of each alternative are disjoint and
 * strings end at the next line, so that no text makes it slower than linear.
 */
const ESCAPE = /\x1b(?:\[([0-?]*)[ -/]*([@-~])|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[PX^_][^\x1b\n]*\x1b\\|[ -/]*[0-~]|)/g;
/** What moves the cursor to where something stands already, or erases. */
const MOVES = /[\r\b]|\x1b\[[0-9;]*[ABCDGJK]/;

/** @returns The text without escape sequences. */
export function stripAnsi(text: string): string {
  return text.includes("\x1b") ? text.replace(ESCAPE, "") : text;
}

/** @returns Runs of text with the style that SGR sequences give them; all other escape sequences are dropped. */
export function tokenizeAnsi(text: string): AnsiRun[] {
  const runs: AnsiRun[] = [];
  let style = PLAIN;
  let from = 0;
  const take = (end: number): void => {
    if (end > from) runs.push({ text: text.slice(from, end), style });
  };
  for (const match of text.matchAll(ESCAPE)) {
    take(match.index);
    from = match.index + match[0].length;
    if (match[2] === "m") style = applySgr(style, match[1] ?? "");
  }
  take(text.length);
  return runs;
}

/**
 * @returns What a terminal shows after printing the text: `\r`, `\b` and cursor movements let later text overwrite
 * earlier text, as progress bars do. Colours stay; text without movements is returned as it is.
 */
export function foldCarriageReturns(text: string): string {
  if (!MOVES.test(text)) return text;
  const screen = new Screen();
  let from = 0;
  for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
    screen.write(text.slice(from, end));
    screen.newLine();
    from = end + 1;
  }
  screen.write(text.slice(from));
  return screen.text();
}

/** A row nobody wrote over stays as it came; `start` and `end` are the styles before and after it. */
type RawRow = { readonly raw: string; readonly start: AnsiStyle; readonly end: AnsiStyle };
type CellRow = { readonly chars: string[]; readonly styles: AnsiStyle[] };

/** Rows of cells without a width. The cursor never stands beyond the end of a row, so that text bounds memory. */
class Screen {
  readonly #rows: (RawRow | CellRow)[] = [{ chars: [], styles: [] }];
  #row = 0;
  #column = 0;
  #style = PLAIN;

  newLine(): void {
    this.#row++;
    this.#column = 0;
    if (this.#row === this.#rows.length) this.#rows.push({ chars: [], styles: [] });
  }

  /** Writes text without line feeds. */
  write(line: string): void {
    const text = withoutReturns(line);
    const row = this.#cells();
    if (this.#row === this.#rows.length - 1 && row.chars.length === 0 && !MOVES.test(text)) {
      const start = this.#style;
      for (const match of text.matchAll(ESCAPE)) this.#sgr(match);
      this.#rows[this.#row] = { raw: text, start, end: this.#style };
    } else this.#draw(line);
  }

  text(): string {
    let pen = PLAIN;
    const parts: string[] = [];
    const use = (style: AnsiStyle): void => {
      if (style !== pen) parts.push(sgrOf(style));
      pen = style;
    };
    for (const [index, row] of this.#rows.entries()) {
      if (index > 0) parts.push("\n");
      if ("raw" in row) {
        use(row.start);
        parts.push(row.raw);
        pen = row.end;
        continue;
      }
      for (const [column, char] of row.chars.entries()) {
        use(row.styles[column] ?? PLAIN);
        parts.push(char);
      }
    }
    use(this.#style);
    return parts.join("");
  }

  /** Writes over what stands from the cursor on. */
  #draw(text: string): void {
    let from = 0;
    for (const match of text.matchAll(ESCAPE)) {
      this.#put(text.slice(from, match.index));
      from = match.index + match[0].length;
      this.#sgr(match);
      this.#move(match[2] ?? "", match[1] ?? "");
    }
    this.#put(text.slice(from));
  }

  #put(text: string): void {
    if (text === "") return;
    const { chars, styles } = this.#cells();
    for (const char of text) {
      if (char === "\r") this.#column = 0;
      else if (char === "\b") this.#column = Math.max(0, this.#column - 1);
      else {
        const column = Math.min(this.#column, chars.length);
        chars[column] = char;
        styles[column] = this.#style;
        this.#column = column + 1;
      }
    }
  }

  #sgr(match: RegExpExecArray): void {
    if (match[2] === "m") this.#style = applySgr(this.#style, match[1] ?? "");
  }

  #move(command: string, params: string): void {
    const count = Math.max(1, Number.parseInt(params, 10) || 0);
    if (command === "A") this.#row = Math.max(0, this.#row - count);
    if (command === "B") this.#row = Math.min(this.#rows.length - 1, this.#row + count);
    if (command === "C") this.#column += Math.min(count, this.#cells().chars.length);
    if (command === "D") this.#column = Math.max(0, this.#column - count);
    if (command === "G") this.#column = count - 1;
    if (command === "K") this.#erase(params);
    if (command === "J" && (params === "" || params === "0")) {
      this.#erase("0");
      this.#rows.length = this.#row + 1;
    }
  }

  /** Erases in the row: from the cursor on (0), up to it (1) or all (2). */
  #erase(params: string): void {
    const { chars, styles } = this.#cells();
    if (params === "1") chars.fill(" ", 0, this.#column + 1);
    else chars.length = params === "2" ? 0 : Math.min(chars.length, this.#column);
    styles.length = chars.length;
  }

  /** The cursor's row, turned into cells if it came raw. */
  #cells(): CellRow {
    const row = this.#rows[this.#row];
    if (row !== undefined && "chars" in row) return row;
    const cells: CellRow = { chars: [], styles: [] };
    this.#rows[this.#row] = cells;
    if (row === undefined) return cells;
    for (const run of tokenizeAnsi(`${sgrOf(row.start)}${row.raw}`)) {
      for (const char of run.text) {
        cells.chars.push(char);
        cells.styles.push(run.style);
      }
    }
    return cells;
  }
}

/** Returns at the end of a line move the cursor, but nothing is written after them. */
function withoutReturns(line: string): string {
  let end = line.length;
  while (line[end - 1] === "\r") end--;
  return line.slice(0, end);
}

const FLAGS = {
  1: "bold",
  2: "dim",
  3: "italic",
  4: "underline",
  7: "inverse",
  9: "strike",
} as const;
const UNFLAGS: Readonly<Record<number, readonly (keyof AnsiStyle)[]>> = {
  22: ["bold", "dim"],
  23: ["italic"],
  24: ["underline"],
  27: ["inverse"],
  29: ["strike"],
  39: ["fg"],
  49: ["bg"],
};
/** More parameters than any real sequence has. */
const MAX_SGR_PARAMS = 64;

function applySgr(style: AnsiStyle, params: string): AnsiStyle {
  let next: { -readonly [K in keyof AnsiStyle]: AnsiStyle[K] } = { ...style };
  const codes = params.replace(/[^\d;:]/g, "").split(";", MAX_SGR_PARAMS);
  while (codes.length > 0) {
    const [code = 0, ...sub] = numbers(codes.shift());
    if (code === 0) next = {};
    else if (code === 38 || code === 48 || code === 58) {
      const colour = sub.length > 0 ? extended(sub) : extendedOf(codes);
      if (colour !== undefined && code !== 58) next[code === 38 ? "fg" : "bg"] = colour;
    } else if (code in FLAGS && !(code === 4 && sub[0] === 0)) next[FLAGS[code as keyof typeof FLAGS]] = true;
    else if (code === 4) delete next.underline;
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 40 && code <= 47) next.bg = code - 40;
    else if (code >= 90 && code <= 97) next.fg = code - 82;
    else if (code >= 100 && code <= 107) next.bg = code - 92;
    for (const name of UNFLAGS[code] ?? []) delete next[name];
  }
  return Object.keys(next).length === 0 ? PLAIN : next;
}

function numbers(param: string | undefined): number[] {
  return (param ?? "").split(":").map((part) => Number.parseInt(part, 10) || 0);
}

/** Takes the parameters of an extended colour (`5;n` or `2;r;g;b`) off the front of `codes`. */
function extendedOf(codes: string[]): AnsiColour | undefined {
  const kind = codes[0];
  const count = kind === "5" ? 2 : kind === "2" ? 4 : 1;
  return extended(codes.splice(0, count).flatMap(numbers));
}

/** `5 n` or `2 r g b`, the latter also with a colour space before `r`. */
function extended(values: readonly number[]): AnsiColour | undefined {
  const [kind, index] = values;
  if (kind === 5 && index !== undefined) return Math.min(255, index);
  if (kind !== 2 || values.length < 4) return undefined;
  const hex = values.slice(-3).map((value) => Math.min(255, value).toString(16).padStart(2, "0"));
  return `#${hex.join("")}`;
}

/** @returns The SGR sequence that sets exactly this style. */
function sgrOf(style: AnsiStyle): string {
  const codes = ["0"];
  for (const [code, name] of Object.entries(FLAGS)) if (style[name]) codes.push(code);
  if (style.fg !== undefined) codes.push(`38;${colourCode(style.fg)}`);
  if (style.bg !== undefined) codes.push(`48;${colourCode(style.bg)}`);
  return `\x1b[${codes.join(";")}m`;
}

function colourCode(colour: AnsiColour): string {
  if (typeof colour === "number") return `5;${colour}`;
  const value = Number.parseInt(colour.slice(1), 16);
  return `2;${value >> 16};${(value >> 8) & 255};${value & 255}`;
}

/** @returns The colour of palette entry 16–255 as `#rrggbb`; undefined for the first 16, which are the viewer's own. */
export function paletteColour(index: number): `#${string}` | undefined {
  if (index < 16 || index > 255) return undefined;
  const grey = 8 + (index - 232) * 10;
  const levels = index >= 232 ? [grey, grey, grey] : [36, 6, 1].map((size) => cubeLevel(index - 16, size));
  return `#${levels.map((level) => level.toString(16).padStart(2, "0")).join("")}`;
}

function cubeLevel(index: number, size: number): number {
  const step = Math.floor(index / size) % 6;
  return step === 0 ? 0 : 55 + step * 40;
}
