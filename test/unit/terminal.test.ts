import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { foldCarriageReturns, paletteColour, stripAnsi, tokenizeAnsi } from "../../src/core/terminal.ts";

const ESC = "\x1b[";

describe("foldCarriageReturns", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["leaves plain text alone", "a\nb\n\n\tc\x00\x0c\u2028", "a\nb\n\n\tc\x00\x0c\u2028"],
    ["shows the last state of a progress bar", "\r 0%\r 50%\r100%\ndone", "100%\ndone"],
    ["keeps what a shorter text does not cover", "abcdef\rxy", "xycdef"],
    ["takes \\r\\n as the end of a line", "one\r\ntwo\r\n", "one\ntwo\n"],
    ["lets a final \\r wait for text that never came", "50%\r", "50%"],
    ["steps back at \\b, not beyond the start", "\b\bab\b\bXY\bZ", "XZ"],
    ["erases to the end of the line", `loading...\r${ESC}Kok`, "ok"],
    ["erases the line", `abc${ESC}2K\rxy`, "xy"],
    ["moves up, as bars of several lines do", `one: 0%\ntwo: 0%${ESC}A\rone: 9%\n`, "one: 9%\ntwo: 0%"],
    ["erases below", `one\ntwo\nthree${ESC}2A\r${ESC}Jnew`, "new"],
    ["keeps both halves of an emoji together", "😀😀\r🎉", "🎉😀"],
  ];
  for (const [name, text, expected] of cases) {
    it(name, () => assert.equal(foldCarriageReturns(text), expected));
  }

  it("keeps colours with the characters that they belong to", () => {
    const folded = foldCarriageReturns(`${ESC}31mred${ESC}0m\r${ESC}32mg`);
    assert.deepEqual(
      tokenizeAnsi(folded).map(({ text, style }) => [text, style.fg]),
      [
        ["g", 2],
        ["ed", 1],
      ],
    );
  });

  it("does what a terminal of one character per cell does, whatever comes", () => {
    let state = 3;
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 8) % below;
    };
    for (let round = 0; round < 500; round++) {
      const text = Array.from({ length: random(30) }, () => "ab\r\n\bcd"[random(7)]).join("");
      assert.equal(foldCarriageReturns(text), naiveTerminal(text), JSON.stringify(text));
    }
  });

  it("is linear: a megabyte of movements takes no time", () => {
    const started = performance.now();
    foldCarriageReturns("x".repeat(1000).concat("\r").repeat(1000));
    foldCarriageReturns("\b".repeat(1_000_000));
    foldCarriageReturns(`x\n${ESC}9999A${ESC}9999C`.repeat(50_000));
    foldCarriageReturns(`\r${"\x1b]".repeat(250_000)}${"\x1b[1".repeat(250_000)}`);
    assert.ok(performance.now() - started < 5000);
  });
});

/** Writes into rows of characters, one at a time. */
function naiveTerminal(text: string): string {
  const rows: string[][] = [[]];
  let column = 0;
  for (const char of text) {
    if (char === "\n") rows.push([]);
    if (char === "\n" || char === "\r") column = 0;
    else if (char === "\b") column = Math.max(0, column - 1);
    else (rows.at(-1) ?? [])[column++] = char;
  }
  return rows.map((row) => row.join("")).join("\n");
}

describe("stripAnsi", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["colours", `${ESC}1;31mred${ESC}0m!`, "red!"],
    ["links", "\x1b]8;;https://example.com\x1b\\text\x1b]8;;\x07", "text"],
    ["titles and other strings", "\x1b]0;title\x07a\x1bPq#0\x1b\\b\x1b_app\x1b\\c", "abc"],
    ["two-character sequences", "\x1b7a\x1b(Bb\x1bc", "ab"],
    ["an unfinished sequence, without the text after it", "a\x1b]0;title\nb\x1b", "a0;title\nb"],
  ];
  for (const [name, text, expected] of cases) it(`removes ${name}`, () => assert.equal(stripAnsi(text), expected));
});

describe("tokenizeAnsi", () => {
  const styleOf = (codes: string) => tokenizeAnsi(`${ESC}${codes}mx`)[0]?.style;

  it("gives runs of text with their style", () => {
    assert.deepEqual(tokenizeAnsi(`a${ESC}1mb${ESC}31mc${ESC}md`), [
      { text: "a", style: {} },
      { text: "b", style: { bold: true } },
      { text: "c", style: { bold: true, fg: 1 } },
      { text: "d", style: {} },
    ]);
  });

  it("knows the 16, the 256 and all colours, for text and ground", () => {
    assert.deepEqual(styleOf("31;42"), { fg: 1, bg: 2 });
    assert.deepEqual(styleOf("97;100"), { fg: 15, bg: 8 });
    assert.deepEqual(styleOf("38;5;208;48;5;16"), { fg: 208, bg: 16 });
    assert.deepEqual(styleOf("38;2;255;128;0"), { fg: "#ff8000" });
    assert.deepEqual(styleOf("48:2::1:2:3"), { bg: "#010203" });
  });

  it("knows the attributes and what ends them", () => {
    assert.deepEqual(styleOf("1;2;3;4;7;9"), {
      bold: true,
      dim: true,
      italic: true,
      underline: true,
      inverse: true,
      strike: true,
    });
    assert.deepEqual(styleOf("1;2;3;4;7;9;31;41;22;23;24;27;29;39;49"), {});
    assert.deepEqual(styleOf("4;4:0"), {});
    assert.deepEqual(styleOf("58;5;1;3"), { italic: true });
  });

  it("drops every other sequence and survives nonsense", () => {
    assert.deepEqual(
      tokenizeAnsi(`a${ESC}2Jb${ESC}?25lc`)
        .map(({ text }) => text)
        .join(""),
      "abc",
    );
    for (const codes of ["38", "38;5", "38;2;1", "999", ";;;", "38;9;1", "38;5;999"]) {
      assert.equal(tokenizeAnsi(`${ESC}${codes}mx`)[0]?.text, "x", codes);
    }
  });
});

describe("paletteColour", () => {
  it("is the colour of the cube or of the grey ramp", () => {
    assert.deepEqual([15, 16, 21, 196, 231, 232, 255, 256].map(paletteColour), [
      undefined,
      "#000000",
      "#0000ff",
      "#ff0000",
      "#ffffff",
      "#080808",
      "#eeeeee",
      undefined,
    ]);
  });
});
