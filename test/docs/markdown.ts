import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../helpers/process.ts";

/** A fenced block of code. `line` is that of its fence, from 1. */
export type Block = { readonly language: string; readonly text: string; readonly line: number };
export type Heading = { readonly level: number; readonly text: string };
/** The rows of a table, its head first; each a list of cells. */
export type Table = readonly (readonly string[])[];

/** What lies under one heading, the text before the first one under an empty heading. */
export type Section = {
  readonly heading: Heading;
  /** What is neither heading nor block. */
  readonly prose: string;
  readonly blocks: readonly Block[];
  readonly tables: readonly Table[];
  /** Targets of links in the order of the text. */
  readonly links: readonly string[];
};

export type Page = { readonly path: string; readonly text: string; readonly sections: readonly Section[] };

const LINK = /\]\(([^)\s]+)\)|<(https?:[^>\s]+)>/g;

/** @param path Relative to the root. @throws Error for a block that does not end. */
export function readPage(path: string): Page {
  const text = readFileSync(join(ROOT, path), "utf8");
  const sections: Section[] = [];
  let heading: Heading = { level: 0, text: "" };
  let blocks: Block[] = [];
  let prose: string[] = [];
  const end = (): void => {
    const text = prose.join("\n");
    sections.push({ heading, prose: text, blocks, tables: tablesOf(prose), links: linksOf(text) });
    blocks = [];
    prose = [];
  };
  const lines = text.split("\n");
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? "";
    const [, language] = /^```(\w*)$/.exec(line) ?? [];
    const [, marks = "", title] = /^(#+) (.+)$/.exec(line) ?? [];
    if (language !== undefined) {
      const close = lines.indexOf("```", at + 1);
      if (close < 0) throw new Error(`${path}:${at + 1}: the block does not end`);
      const content = lines.slice(at + 1, close);
      blocks.push({ language, text: content.map((one) => `${one}\n`).join(""), line: at + 1 });
      at = close;
    } else if (title !== undefined) {
      end();
      heading = { level: marks.length, text: title };
    } else {
      prose.push(line);
    }
  }
  end();
  return { path, text, sections };
}

function linksOf(text: string): string[] {
  return [...text.matchAll(LINK)].map(([, target, address]) => target ?? address ?? "");
}

function tablesOf(lines: readonly string[]): Table[] {
  const tables: string[][][] = [];
  let present: string[][] | undefined;
  for (const line of lines) {
    if (!line.startsWith("|")) {
      present = undefined;
      continue;
    }
    if (present === undefined) {
      present = [];
      tables.push(present);
    }
    if (!/^\|[-|\s]+\|$/.test(line)) present.push(cellsOf(line));
  }
  return tables;
}

function cellsOf(row: string): string[] {
  return row
    .replace(/^\||\|$/g, "")
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
}

/** What stands between backticks; not for text with whole blocks. */
export function codeIn(text: string): string[] {
  return [...text.matchAll(/`([^`]+)`/g)].map(([, code = ""]) => code);
}

/** All blocks of a page. */
export function blocksOf(page: Page): Block[] {
  return page.sections.flatMap(({ blocks }) => blocks);
}

/** The table whose first row begins with this cell. @throws Error when there is none. */
export function tableOf(page: Page, head: string): Table {
  const table = page.sections.flatMap(({ tables }) => tables).find(([first]) => first?.[0] === head);
  if (!table) throw new Error(`${page.path} has no table that begins with ${JSON.stringify(head)}`);
  return table;
}

/** README.md and all of docs, in English. */
export function readPages(): Page[] {
  const names = readdirSync(join(ROOT, "docs")).filter((name) => name.endsWith(".md"));
  return ["README.md", "CONTRIBUTING.md", ...names.sort().map((name) => `docs/${name}`)].map(readPage);
}
