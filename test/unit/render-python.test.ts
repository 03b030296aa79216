import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseLines } from "../../src/render/python/lines.ts";
import { quoted, sourceLiteral } from "../../src/render/python/literal.ts";
import { tokenize } from "../../src/render/python/tokens.ts";

/** The tokens as text, those of one kind only when it is named. */
function tokens(source: string, kind?: string): string[] {
  const chosen = tokenize(source).tokens.filter((token) =>
    kind === undefined ? token.kind !== "space" : token.kind === kind,
  );
  return chosen.map((token) => source.slice(token.start, token.end));
}

describe("tokenize", () => {
  it("splits source into tokens without gaps", () => {
    const source = "x: int = 0xFF if y != 1.5e-3j else [*a, ...]  # c\n";
    assert.equal(tokens(source, undefined).join(" "), "x : int = 0xFF if y != 1.5e-3j else [ * a , ... ] # c \n");
    assert.equal(
      tokenize(source)
        .tokens.map((token) => source.slice(token.start, token.end))
        .join(""),
      source,
    );
  });

  it("ends a logical line only outside of brackets and without a backslash", () => {
    assert.equal(tokens("a = (1,\n  2)\nb = 1 + \\\n  2\n\n# c\n", "newline").length, 2);
  });

  const strings: readonly (readonly [string, string])[] = [
    ["quotes in quotes", `'a"b' "c'd"`],
    ["escaped quotes, also in raw strings", `'a\\'b' r'a\\'b' b'\\\\'`],
    ["three quotes over lines", `"""a "b" ""\n\\""" c"""`],
    ["fields with strings of their own", `f'{a["b"]!r:>{w}} {{no}}' f"{x:'^3}"`],
    ["the same quotes inside a field (3.12)", `f"{d["a"]}" f"{f"{1}"}"`],
    ["names of characters", `f'\\N{EM DASH}{x}' rf'\\{x}'`],
    ["comments and lines in a field", `f'''{ # }'\n x}'''`],
    ["prefixes of every kind", `Rb'' bR'' u'' Fr'' rF'' t'' tr''`],
  ];
  for (const [name, source] of strings) {
    it(`reads ${name}`, () => {
      const { tokens, complete } = tokenize(source);
      assert.ok(complete);
      assert.ok(tokens.every(({ kind }) => kind === "string" || kind === "space"));
    });
  }

  it("finds the fields of f-strings", () => {
    const source = "f'{a}{{b}}{c:{d}}'";
    const [token] = tokenize(source).tokens;
    assert.deepEqual(
      token?.fields?.map(({ start, end }) => source.slice(start, end)),
      ["{a}", "{c:{d}}"],
    );
  });

  it("tells magics from operators", () => {
    const source = "!ls 'x\\\n more\n%time f()\nx = !ls\ny = (1\n%2)\nz = a \\\n%2\nw != 1\nname?";
    assert.deepEqual(tokens(source, "magic"), ["!ls 'x\\\n more", "%time f()", "!ls", "?"]);
    assert.ok(tokenize(source).complete);
  });

  it("knows what cannot be Python", () => {
    for (const source of [
      "(",
      "(]",
      ")",
      "'a",
      '"""a',
      'f"{x"',
      "a $ b",
      "a\0",
      "a\\",
      "a \\ b",
      "(".repeat(200) + ")".repeat(200),
    ]) {
      assert.equal(tokenize(source).complete, false, source);
    }
  });

  it("goes on after a string that is left open at the end of its line", () => {
    assert.deepEqual(tokens("x = 'a\ny = 1\n"), ["x", "=", "'a", "\n", "y", "=", "1", "\n"]);
  });

  it("is linear: a megabyte of openings takes no time", () => {
    const started = performance.now();
    for (const piece of ['f"{"a"', "f'{x:{y:", "(", '"""', "f'\\N{", "!\\\n", "é", "'a' "])
      tokenize(piece.repeat(100_000));
    assert.ok(performance.now() - started < 10_000);
  });
});

describe("parseLines", () => {
  it("knows whose names a line sets", () => {
    const source = [
      "a = 1",
      "def f(x=a):",
      "    b = (1,",
      "2)",
      "    class C:",
      "\td = 2",
      "    e = 3",
      "class D: g = 4",
      "async def h(): i = 5",
      "if a:",
      "    j = 6",
    ].join("\n");
    const { lines } = parseLines(source);
    assert.deepEqual(
      lines.map(({ scope }) => scope),
      ["module", "module", "function", "function", "class", "function", "module", "module", "module", "module"],
    );
    const inside = lines.map(({ tokens, body }) =>
      tokens
        .slice(body)
        .map(({ start, end }) => source.slice(start, end))
        .join(""),
    );
    assert.deepEqual(inside.filter(Boolean), ["g=4", "i=5"]);
  });
});

describe("literals", () => {
  it("quote any text on one line", () => {
    assert.equal(quoted("it's\n\\ \0\x7f\u2028\udc80😀é"), "'it\\'s\\n\\\\ \\x00\\x7f\\u2028\\udc80😀é'");
  });

  it("keep source readable where they can", () => {
    assert.equal(sourceLiteral("a\\n'b'"), "r'''\na\\n'b'\n'''");
    assert.equal(sourceLiteral("'''"), 'r"""\n\'\'\'\n"""');
    assert.equal(sourceLiteral("'''\n\"\"\""), "(\n    '\\'\\'\\'\\n'\n    '\"\"\"\\n'\n)");
  });
});
