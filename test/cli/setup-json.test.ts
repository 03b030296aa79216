import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseJson, sameJson, toJson } from "../../adapters/cli/setup-json.ts";
import { JsonText } from "../../adapters/cli/setup-json-edit.ts";

const SERVER = { command: "node", args: ["a.js"] };

/** The text after `set`, read as JSON with comments. */
function set(text: string, path: readonly string[], value: Parameters<JsonText["set"]>[1]): string {
  const json = new JsonText(text, { comments: true });
  json.set(path, value);
  return json.text;
}

describe("setting a value in JSON with comments", () => {
  it("keeps every comment where it was and comments on the line with their value", () => {
    const text = `// mine
{
    "theme": "dark", // at night
    "mcpServers": {
        // the first
        "one": { "command": "x" } /* why */ // really
        // nothing else yet
    }
}
`;
    assert.equal(
      set(text, ["mcpServers", "repl"], SERVER),
      `// mine
{
    "theme": "dark", // at night
    "mcpServers": {
        // the first
        "one": { "command": "x" }, /* why */ // really
        "repl": {
            "command": "node",
            "args": ["a.js"]
        }
        // nothing else yet
    }
}
`,
    );
  });

  it("keeps a trailing comma and writes one itself", () => {
    assert.equal(set('{\n\t"a": 1,\n}\n', ["b"], 2), '{\n\t"a": 1,\n\t"b": 2,\n}\n');
  });

  it("keeps one-line objects on one line", () => {
    assert.equal(set('{"a":{"b":1}}', ["a", "c"], SERVER), '{"a":{"b":1, "c": {"command": "node", "args": ["a.js"]}}}');
  });

  it("opens an empty object and keeps what is commented in it", () => {
    assert.equal(set("{}", ["a", "b"], 1), '{\n  "a": {\n    "b": 1\n  }\n}');
    assert.equal(
      set('{\n  "a": {\n    // later\n  }\n}\n', ["a", "b"], 1),
      '{\n  "a": {\n    // later\n    "b": 1\n  }\n}\n',
    );
  });

  it("puts the closing brace of a crowded line on its own line", () => {
    assert.equal(set('{\n  "a": 1 }\n', ["b"], 2), '{\n  "a": 1,\n  "b": 2\n}\n');
  });

  it("keeps Windows line ends and a byte order mark", () => {
    assert.equal(
      set('\uFEFF{\r\n  "a": 1\r\n}\r\n', ["b", "c"], 2),
      '\uFEFF{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n',
    );
  });

  it("replaces a value in its place and leaves an equal one as it is written", () => {
    const text = '{ "a": { "x" :1,\n "y": 2 }, "b": 3 }';
    assert.equal(set(text, ["a"], { y: 2, x: 1 }), text);
    assert.equal(set(text, ["b"], 4), text.replace("3", "4"));
  });

  it("makes a file of an empty one and of one that holds comments only", () => {
    assert.equal(set("", ["a"], 1), '{\n  "a": 1\n}\n');
    assert.equal(set("// hello\n", ["a"], 1), '// hello\n{\n  "a": 1\n}\n');
  });

  it("refuses what leaves no place, naming the line", () => {
    assert.throws(() => set('{\n "a": []}', ["a", "b"], 1), /"a" is a list where an object belongs \(line 2\)/);
    assert.throws(() => set("[1]", ["a"], 1), /The top level is a list/);
    assert.throws(() => set('{"a":1,\n"a":2}', ["a"], 1), /"a" is there more than once \(lines 1 and 2\)/);
  });
});

describe("appending to a list and removing", () => {
  it("appends on a line of its own, and makes the list", () => {
    const json = new JsonText('{\n  "inputs": [\n    { "id": "x" } // one\n  ]\n}\n', { comments: true });
    json.append(["inputs"], "y");
    json.append(["more"], "z");
    assert.equal(json.text, '{\n  "inputs": [\n    { "id": "x" }, // one\n    "y"\n  ],\n  "more": ["z"]\n}\n');
  });

  it("removes a member with its comma, and the comma before the last one", () => {
    const json = new JsonText('{\n  "a": 1, // one\n  "b": 2,\n  "c": 3\n}\n', { comments: true });
    json.remove(["c"]);
    assert.equal(json.text, '{\n  "a": 1, // one\n  "b": 2\n}\n');
    json.remove(["a"]);
    assert.equal(json.text, '{\n   // one\n  "b": 2\n}\n');
    json.remove(["nothing"]);
    json.remove(["b"]);
    assert.equal(sameJson(json.get([]) ?? null, {}), true);
  });
});

describe("reading", () => {
  const broken: readonly [text: string, message: RegExp][] = [
    ['{"a": 1', /The end of the file instead of } at line 1, column 8/],
    ['{\n  "a": 1\n  "b": 2\n}', /Neither a comma nor } at line 3, column 3/],
    ['{"a" 1}', /No colon after "a" at line 1, column 6/],
    ["{a: 1}", /No quoted key at line 1, column 2/],
    ['{"a": "x\n"}', /A string that is not closed or has a bad escape at line 1, column 7/],
    ['{"a": "\\q"}', /bad escape/],
    ['{"a": 01}', /No value at line 1, column 7/],
    ['{"a": tru}', /No value/],
    ["{} {}", /Something after the end of the value at line 1, column 4/],
    ["{ /* x ", /A comment that is never closed/],
    ['{"a":', /The end of the file instead of a value/],
    [`${"[".repeat(300)}`, /More than 200 levels/],
  ];
  for (const [text, message] of broken) {
    it(`says where ${JSON.stringify(text.slice(0, 20))} breaks`, () => {
      assert.throws(() => parseJson(text, { comments: true }), message);
    });
  }

  it("refuses comments and trailing commas for readers that refuse them", () => {
    assert.throws(() => parseJson('{\n// x\n"a":1}', { comments: false }), /A comment.* at line 2, column 1/);
    assert.throws(() => parseJson('{"a":1,}', { comments: false }), /A trailing comma.* at line 1, column 7/);
  });

  it("reads what JSON.parse reads, and to the same value", () => {
    const text = JSON.stringify(
      { a: [1, -2.5e3, true, null, '\u2028\ud800 "\\/\n'], __proto__x: {}, "": [[]] },
      null,
      1,
    );
    const node = parseJson(text, { comments: false });
    assert.deepEqual(node && toJson(node), JSON.parse(text));
  });

  it("keeps a key named __proto__ a key", () => {
    const node = parseJson('{"__proto__": {"a": 1}}', { comments: false });
    assert.deepEqual(Object.keys(node ? (toJson(node) as object) : {}), ["__proto__"]);
  });
});

describe("any layout", () => {
  /** A small generator with a fixed seed, so that a failure comes back. */
  function random(seed: number): () => number {
    let state = seed;
    return () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
  }

  function write(next: () => number, depth: number): string {
    const gap = () => ["", " ", "\n", "\n  ", " // c\n", " /* c */ ", "\r\n\t"][Math.floor(next() * 7)] ?? "";
    const count = Math.floor(next() * 4);
    if (depth > 2 || next() < 0.3) return ["1", '"s"', "null", "[1, 2]", "{}", "[]"][Math.floor(next() * 6)] ?? "1";
    const members = Array.from(
      { length: count },
      (_, i) => `${gap()}"k${i}"${gap()}:${gap()}${write(next, depth + 1)}${gap()}`,
    );
    const tail = count > 0 && next() < 0.3 ? "," : "";
    return `{${members.join(",")}${tail}${gap()}}`;
  }

  it("gets the entry and keeps all else, 2000 times", () => {
    const next = random(42);
    for (let round = 0; round < 2000; round++) {
      const text = `{"top": ${write(next, 0)}${next() < 0.5 ? "\n" : ""}}`;
      const before = toJson(parseJson(text, { comments: true }) ?? assert.fail()) as Record<string, never>;
      const after = set(text, ["servers", "repl"], SERVER);
      const value = toJson(parseJson(after, { comments: true }) ?? assert.fail());
      assert.deepEqual(value, { ...before, servers: { repl: SERVER } }, text);
      assert.equal((after.match(/c\n|c \*\//g) ?? []).length, (text.match(/c\n|c \*\//g) ?? []).length, text);
      const json = new JsonText(after, { comments: true });
      json.remove(["servers"]);
      assert.deepEqual(json.get([]), before, after);
    }
  });
});
