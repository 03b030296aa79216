import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { codeIn, readPage, type Section } from "./markdown.ts";

/** README.zh-CN.md says the same as README.md: section by section, whatever is no prose corresponds one to one. */

const english = readPage("README.md");
const chinese = readPage("README.zh-CN.md");

/** Each page links to the other in its own place. */
const asEnglish = (link: string): string => (link === "README.md" ? "README.zh-CN.md" : link);

function pairs(): (readonly [Section, Section])[] {
  return english.sections.map((section, at) => {
    const other = chinese.sections[at];
    assert.ok(other, `There is no section for ${section.heading.text}`);
    return [section, other] as const;
  });
}

/** Words may stand in another order. */
const sortedCode = (text: string): string[] => codeIn(text).sort();

describe("the Chinese README", () => {
  test("has a heading for each heading", () => {
    const levels = ({ sections }: typeof english): number[] => sections.map(({ heading }) => heading.level);
    assert.deepEqual(levels(chinese), levels(english));
    const [, , ...titles] = chinese.sections.map(({ heading }) => heading.text);
    for (const title of titles) assert.match(title, /\p{Script=Han}/u);
  });

  test("has the same blocks of code", () => {
    for (const [one, other] of pairs()) {
      const content = ({ blocks }: Section): string[][] => blocks.map(({ language, text }) => [language, text]);
      assert.deepEqual(content(other), content(one), one.heading.text);
    }
  });

  test("has the same links", () => {
    for (const [one, other] of pairs()) {
      assert.deepEqual(other.links.map(asEnglish).sort(), [...one.links].sort(), one.heading.text);
    }
  });

  test("has the same tables: rows, cells, and the names in them", () => {
    for (const [one, other] of pairs()) {
      const names = ({ tables }: Section): string[][][][] =>
        tables.map((table) => table.map((row) => row.map(sortedCode)));
      assert.deepEqual(names(other), names(one), one.heading.text);
    }
  });

  test("names the same things in its text", () => {
    for (const [one, other] of pairs()) {
      assert.deepEqual(sortedCode(other.prose), sortedCode(one.prose), one.heading.text);
    }
  });

  test("is not left behind: each paragraph of text has its counterpart", () => {
    const paragraphs = ({ prose }: Section): number => prose.trim().split(/\n{2,}/).length;
    for (const [one, other] of pairs()) assert.equal(paragraphs(other), paragraphs(one), one.heading.text);
  });
});
