import assert from "node:assert/strict";
import { test } from "node:test";
import { commandsOf, partsOf, patternOf } from "./console.ts";

/** The tests of pages find what is wrong on them. */

const block = (language: string, ...lines: string[]) => ({ language, text: `${lines.join("\n")}\n`, line: 10 });

test("a console block is commands and what they print", () => {
  assert.deepEqual(commandsOf(block("console", "$ one \\", "  more", "printed", "", "$ two")), [
    { text: "one \\\n  more", output: ["printed", ""], line: 11 },
    { text: "two", output: [], line: 15 },
  ]);
});

test("a shell block is commands only, remarks aside", () => {
  const commands = commandsOf(block("sh", "# first", "one", "", "two"));
  assert.deepEqual(
    commands.map(({ text }) => text),
    ["one", "two"],
  );
});

test("commands that follow each other are tried one by one, without the remark", () => {
  assert.deepEqual(partsOf("npm ci && npm test        # everything"), ["npm ci", "npm test"]);
  assert.deepEqual(partsOf("(cd x && npm i)"), ["(cd x && npm i)"]);
  assert.deepEqual(partsOf("echo 'a # b' && c"), ["echo 'a # b' && c"]);
});

const printed = "first\nPython 3.11.7 (here)\n\nlast\n";

for (const [shown, fits] of [
  [["first", "…", "last"], true],
  [["Python … (here)"], true],
  [["…", "last"], true],
  [["first", "last"], false],
  [["first", "Python 3.12"], false],
  [["last", "…", "first"], false],
  [["Python 3.11.7"], false],
  [["Python .* (here)"], false],
] as const) {
  test(`${JSON.stringify(shown)} ${fits ? "is" : "is not"} what was printed`, () => {
    assert.equal(patternOf(shown).test(printed), fits);
  });
}
