import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Block } from "../../src/core/session.ts";
import { exportHistory } from "../../src/render/export/index.ts";
import { durationOf, highlightPython, PAGE_POLICY, renderBlockHtml, STYLES } from "../../src/render/html/index.ts";
import { block, nameError, numbered, PNG, printed, shown, TABLE, value, warned } from "../fixtures/render/blocks.ts";
import { tagsOf, text } from "../fixtures/render/markup.ts";

const html = (one: Block, options = {}): string => renderBlockHtml({ number: 1, block: one }, options);
const first = (source: string, name: string) => tagsOf(source).find((tag) => tag.name === name);

describe("a block as HTML", () => {
  it("shows number, code, output in order, value and duration", () => {
    const page = html(block("f()", [printed("out\n"), warned("err\n"), value("12.0")], { durationMs: 1234 }));
    assert.match(text(page), /^\[1\]1\.2 sf\(\)outerr12\.0$/);
    assert.deepEqual(
      tagsOf(page)
        .filter(({ name }) => name === "pre")
        .map(({ attributes }) => attributes.class),
      ["code", "text stdout", "text stderr", "text value"],
    );
  });

  it("carries what a live page needs: anchor, state, sequence and its buttons", () => {
    const page = html(block("1", [], { status: "running", sequence: 7 }), { actions: "<button>Stop</button>" });
    assert.deepEqual(first(page, "article")?.attributes, {
      class: "block",
      id: "b1",
      "aria-label": "Block 1",
      "data-status": "running",
      "data-sequence": "7",
    });
    assert.match(page, /<button>Stop<\/button><\/header>/);
    assert.match(text(html(block("1"), { inMemory: false })), /not in memory/);
  });

  it("folds an error to its last line, the traceback inside", () => {
    const page = html(block("result", [], { status: "error", error: nameError }));
    assert.match(page, /<details class="error"><summary>/);
    assert.match(text(page), /NameError: name 'result' is not defined.*Traceback[\s\S]*<stdin>/);
  });

  it("shows ANSI colours as classes of the theme, all others inline, and folds progress bars", () => {
    const page = html(
      block("f()", [printed("\r10%\r\x1b[1;31mred\x1b[0m \x1b[38;5;208morange\x1b[0m \x1b[7;32minv\x1b[m")]),
    );
    assert.match(page, /<span class="bold fg-1">red<\/span>/);
    assert.match(page, /<span style="color:#ff8700">orange<\/span>/);
    assert.match(page, /<span class="fg-inverse bg-2">inv<\/span>/);
    assert.doesNotMatch(page, /10%/);
  });

  it("shows a picture with its text as description, also from an address", () => {
    const one = block("plot()", [
      printed("a"),
      shown({ "text/plain": "<Figure 1>", "image/png": `${PNG.slice(0, 40)}\n${PNG.slice(40)}` }),
    ]);
    assert.deepEqual(first(html(one), "img")?.attributes, {
      src: `data:image/png;base64,${PNG}`,
      alt: "<Figure 1>",
      loading: "lazy",
    });
    const linked = html(one, { pictureUrl: (position: number) => `/pictures/${position}?a&b` });
    assert.equal(first(linked, "img")?.attributes.src, "/pictures/1?a&b");
  });

  it("shows an SVG as a picture, never as part of the page", () => {
    const svg = `<svg onload="alert('x')"><script>alert(1)</script></svg>`;
    const page = html(block("1", [shown({ "image/svg+xml": svg })]));
    const source = first(page, "img")?.attributes.src ?? "";
    assert.match(source, /^data:image\/svg\+xml,[^<>"'()\s]*$/);
    assert.equal(decodeURIComponent(source.slice(source.indexOf(",") + 1)), svg);
  });

  it("takes what is not base64 for no picture", () => {
    const page = html(block("1", [shown({ "image/png": '"><script>', "text/plain": "plain" })]));
    assert.equal(first(page, "img"), undefined);
    assert.match(text(page), /plain$/);
  });

  it("shows a data frame as a table, numbers at the right", () => {
    const page = html(
      block("df", [value("df", { "application/vnd.dataresource+json": TABLE, "text/html": "<table>" })]),
    );
    assert.match(page, /<th scope="col" class="num">index<\/th><th scope="col">city<\/th>/);
    assert.match(page, /<td class="num">-2<\/td>/);
    assert.match(text(page), /2 rows × 3 columnsindexcity<b>0Köln \| Bonn1.51-2$/);
  });

  it("shows HTML of a cell in a frame that may do nothing", () => {
    const page = html(
      block("1", [value("x", { "text/html": `<b onclick="alert('1')">bold</b><script>alert(1)</script>` })]),
    );
    const frame = first(page, "iframe")?.attributes ?? {};
    assert.equal(frame.sandbox, "");
    assert.equal(frame.src, undefined);
    assert.match(
      frame.srcdoc ?? "",
      /^<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none';/,
    );
    assert.match(frame.srcdoc ?? "", /<b onclick="alert\('1'\)">bold<\/b><script>/);
  });

  it("shows the text instead of HTML that is too large", () => {
    const page = html(block("1", [value("page", { "text/html": "x".repeat(3_000_000) })]));
    assert.ok(page.length < 2000);
    assert.match(text(page), /page$/);
  });

  it("says what came late and what is missing", () => {
    const page = html(block("1", [printed("l\n", { late: true }), printed("a"), printed("b", { dropped: 12345 })]));
    assert.match(
      text(page),
      /\(late output of earlier blocks\)l\(output of this block\)a… 12,345 characters omitted …b$/,
    );
  });

  it("lets text that scrolls be reached by keyboard", () => {
    const [wide] = tagsOf(html(block("x".repeat(100)))).filter(({ name }) => name === "pre");
    assert.deepEqual(wide?.attributes, {
      class: "code",
      role: "group",
      "aria-label": "code of block 1",
      tabindex: "0",
    });
    assert.deepEqual(first(html(block("x")), "pre")?.attributes, { class: "code" });
  });
});

describe("hostile content", () => {
  const evil = `</script></style></pre></title>--><script>alert(1)</script><img src=x onerror="alert('2')">\u202e&lt;\0`;
  const json = JSON.stringify({ schema: { fields: [{ name: evil, type: evil }] }, data: [[evil]] });
  const entries = numbered(
    block(evil, [printed(evil), warned(`\x1b[31m${evil}`), value(evil)], { note: evil }),
    block(`"""${evil}"""  # ${evil}\nf"{${evil}}"`, [shown({ "text/markdown": evil }), shown({ "text/latex": evil })]),
    block("1", [shown({ "image/svg+xml": evil, "text/plain": evil }), shown({ "text/html": evil })]),
    block("1", [shown({ "application/vnd.dataresource+json": json }), shown({ [evil]: evil })]),
    block("1", [], { status: "error", error: { name: evil, message: evil, traceback: evil } }),
  );
  const page = exportHistory("html", {
    sessionId: evil,
    createdAt: Number.NaN,
    backend: evil,
    entries,
  });

  it("adds no element and no attribute to the page", () => {
    const allowed = new Set(
      "!doctype html head meta title style body header p h1 ul li main article a span div pre code figure img details summary iframe table caption thead tbody tr th td".split(
        " ",
      ),
    );
    for (const { name, attributes } of tagsOf(page)) {
      assert.ok(allowed.has(name), name);
      for (const key of Object.keys(attributes)) assert.doesNotMatch(key, /^on/, `${name} ${key}`);
      if (name === "a") assert.match(attributes.href ?? "", /^#b\d$/);
      if (name === "img") assert.match(attributes.src ?? "", /^data:image\//);
      if (name === "iframe") assert.equal(attributes.sandbox, "");
    }
  });

  it("is shown as the text that it is, with what hides code made visible", () => {
    assert.ok(text(page).includes(evil.replace("\u202e", "U+202E").replace("\0", "␀")));
    assert.doesNotMatch(page.replace(/srcdoc="[^"]*"/g, ""), /[\u202a-\u202e\0]/);
  });

  it("meets a policy that allows no script, no connection and no form", () => {
    const policy = tagsOf(page).find(({ attributes }) => attributes["http-equiv"] === "Content-Security-Policy");
    assert.equal(policy?.attributes.content, PAGE_POLICY);
    assert.ok(page.indexOf("Content-Security-Policy") < page.indexOf("<style>"));
    assert.match(PAGE_POLICY, /^default-src 'none'; script-src 'none';/);
  });
});

describe("highlightPython", () => {
  const marked = (code: string): string =>
    highlightPython(code).replace(/<span class="(\w)">(.*?)<\/span>/gs, "$1‹$2›");

  it("tells keywords, names, strings, numbers and comments apart", () => {
    assert.equal(
      marked("def f(x=1.5):  # c\n    return None if x else print('s', x.print)"),
      "k‹def› f‹f›(x=n‹1.5›):  c‹# c›\n    k‹return› v‹None› k‹if› x k‹else› b‹print›(s‹&#39;s&#39;›, x.print)",
    );
    assert.equal(marked("@a.b(c)\nclass A(list): pass"), "d‹@›d‹a›.d‹b›(c)\nk‹class› f‹A›(b‹list›): k‹pass›");
  });

  it("knows words that are keywords only in their place", () => {
    assert.equal(
      marked("match x:\n  case [1]: pass\nmatch = case(1)"),
      "k‹match› x:\n  k‹case› [n‹1›]: k‹pass›\nmatch = case(n‹1›)",
    );
    assert.equal(marked("type X = int\ntype(x)"), "k‹type› X = b‹int›\nb‹type›(x)");
  });

  it("shows fields of f-strings and magics", () => {
    assert.match(highlightPython('f"a{b}c"'), /<span class="s">f&quot;a<span class="i">\{b\}<\/span>c&quot;<\/span>/);
    assert.equal(marked("!ls 'x"), "m‹!ls &#39;x›");
  });

  it("shows exactly the code, whatever it is", () => {
    let state = 11;
    const random = (below: number): number => {
      state = (Math.imul(state, 1103515245) + 12345) >>> 0;
      return (state >>> 8) % below;
    };
    const pieces = [
      '"',
      "'",
      '"""',
      'f"',
      "{",
      "}",
      "\\",
      "\n",
      " ",
      "#",
      "(",
      ")",
      "def ",
      "x",
      "1",
      "%",
      "!",
      "=",
      "é",
      "😀",
      "<b>",
      "&",
      "\0",
    ];
    for (let round = 0; round < 500; round++) {
      const code = Array.from({ length: random(25) }, () => pieces[random(pieces.length)]).join("");
      const source = highlightPython(code);
      tagsOf(source);
      assert.equal(text(source), code.replaceAll("\0", "␀"), JSON.stringify(code));
    }
  });
});

describe("the stylesheet", () => {
  const themes = [...STYLES.matchAll(/:root\{([^}]*)\}/g)].map(([, rules = ""]) =>
    Object.fromEntries(
      Array.from(rules.matchAll(/--([\w-]+):(#[0-9a-f]{3,6})/g), ([, name = "", colour = ""]) => [name, colour]),
    ),
  );
  const GROUNDS = ["surface", "code", "page"];
  const ON_ALL = "text soft accent error".split(" ");
  const ON_CODE = "keyword string comment number name builtin decorator field".split(" ");

  it("has a light and a dark theme with the same names", () => {
    assert.equal(themes.length, 2);
    assert.deepEqual(Object.keys(themes[0] ?? {}), Object.keys(themes[1] ?? {}));
  });

  it("gives every text a contrast of at least 4.5", () => {
    for (const theme of themes) {
      const pairs = [
        ...ON_ALL.flatMap((name) => GROUNDS.map((ground) => [name, ground])),
        ...ON_CODE.map((name) => [name, "code"]),
        ...Array.from({ length: 16 }, (_, index) => [`c${index}`, "surface"]),
        ["error", "error-ground"],
        ["warning", "warning-ground"],
        ["text", "warning-ground"],
        ["warning", "page"],
      ];
      for (const [name = "", ground = ""] of pairs) {
        const ratio = contrast(theme[name] ?? "", theme[ground] ?? "");
        assert.ok(ratio >= 4.5, `${name} on ${ground}: ${ratio.toFixed(2)}`);
      }
    }
  });

  it("loads nothing", () => assert.doesNotMatch(STYLES, /url\(|@import|</));
});

/** WCAG's contrast ratio of two colours `#rgb` or `#rrggbb`. */
function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const hex = colour.length === 4 ? colour.replace(/[0-9a-f]/g, "$&$&") : colour;
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const level = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return level <= 0.04045 ? level / 12.92 : ((level + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

describe("durationOf", () => {
  it("reads well at every size", () => {
    assert.deepEqual([0.2, 12.4, 999.7, 3400, 59_970, 125_000].map(durationOf), [
      "< 1 ms",
      "12 ms",
      "1.0 s",
      "3.4 s",
      "1 min 0 s",
      "2 min 5 s",
    ]);
  });
});
