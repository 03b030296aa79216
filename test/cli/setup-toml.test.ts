import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { describe, it } from "node:test";
import { parseToml, type Toml } from "../../adapters/cli/setup-toml.ts";
import { TomlText } from "../../adapters/cli/setup-toml-edit.ts";

const PATH = ["mcp_servers", "repl"];

/** The text after setting the keys of our table. */
function set(text: string, values: Readonly<Record<string, Toml>>, remove: readonly string[] = []): string {
  const toml = new TomlText(text, PATH);
  for (const key of remove) toml.remove(key);
  for (const [key, value] of Object.entries(values)) toml.set(key, value);
  return toml.text;
}

const COMMAND = { command: "node", args: ["/a b/cli.js"] };

describe("setting a table in TOML", () => {
  it("adds the table at the end and leaves the rest as it is", () => {
    const text = '# mine\nmodel = "o"   # best\n\n[mcp_servers.other]\ncommand = "x"\n\n\n';
    assert.equal(
      set(text, COMMAND),
      '# mine\nmodel = "o"   # best\n\n[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.repl]\ncommand = "node"\nargs = ["/a b/cli.js"]\n',
    );
    assert.equal(set("", { command: "x" }), '[mcp_servers.repl]\ncommand = "x"\n');
  });

  it("changes only the values that differ, with comments kept", () => {
    const text =
      '[mcp_servers."repl"] # ours\ncommand = "old" # was\nargs = [\n  "/a b/cli.js", # path\n]\ntool_timeout_sec = 600\n\n[tui]\n';
    assert.equal(set(text, COMMAND), text.replace('"old"', '"node"'));
  });

  it("does nothing when all is there", () => {
    const text = "[ mcp_servers . repl ]\ncommand = 'node'\nargs = [ '/a b/cli.js' ]\n";
    assert.equal(set(text, COMMAND), text);
  });

  it("merges variables in each of the three ways they can be written", () => {
    const env = { env: new Map([["A", "1"]]) };
    assert.equal(
      set('[mcp_servers.repl]\nenv = { B = "2" }\n', env),
      '[mcp_servers.repl]\nenv = { B = "2", A = "1" }\n',
    );
    assert.equal(set('[mcp_servers.repl]\nenv.B = "2"\n', env), '[mcp_servers.repl]\nenv.B = "2"\nenv.A = "1"\n');
    assert.equal(
      set('[mcp_servers.repl]\ncommand = "x"\n[mcp_servers.repl.env]\nB = "2"\n[z]\n', env),
      '[mcp_servers.repl]\ncommand = "x"\n[mcp_servers.repl.env]\nB = "2"\nA = "1"\n[z]\n',
    );
    assert.equal(
      set('[mcp_servers.repl]\ncommand = "x"\n', env),
      '[mcp_servers.repl]\ncommand = "x"\nenv = { A = "1" }\n',
    );
  });

  it("removes a key with the table it has", () => {
    const text = '[mcp_servers.repl]\ncommand = "x"\n[mcp_servers.repl.env]\nB = "2"\n\n[z]\na = 1\n';
    assert.equal(set(text, { url: "u" }, ["command", "env"]), '[mcp_servers.repl]\nurl = "u"\n\n[z]\na = 1\n');
  });

  it("adds the table above a table that is inside it", () => {
    const text = '[mcp_servers.repl.env]\nB = "2"\n';
    assert.equal(set(text, { command: "x" }), '[mcp_servers.repl.env]\nB = "2"\n\n[mcp_servers.repl]\ncommand = "x"\n');
  });

  it("keeps Windows line ends", () => {
    assert.equal(set("a = 1\r\n", { command: "x" }), 'a = 1\r\n\r\n[mcp_servers.repl]\r\ncommand = "x"\r\n');
  });

  it("refuses forms it cannot edit safely, naming the line", () => {
    assert.throws(() => set("\nmcp_servers = {}\n", COMMAND), /mcp_servers is written as a key \(line 2\)/);
    assert.throws(
      () => set('[mcp_servers]\nrepl.command = "x"\n', COMMAND),
      /mcp_servers.repl.command is written as a key \(line 2\)/,
    );
    assert.throws(() => set("[[mcp_servers]]\n", COMMAND), /is a list of tables \(line 1\)/);
  });
});

describe("reading TOML", () => {
  const broken: readonly [text: string, message: RegExp][] = [
    ["a = \n", /No value at line 1, column 5/],
    ["a\n", /No = after a key at line 1, column 2/],
    ['a = "x\n"', /A string that is not closed/],
    ['a = """x\n', /A string that is never closed at line 1, column 5/],
    ["[a\nb = 1", /A table's name without \]/],
    ["[a] b = 1", /Something after a table's name/],
    ["a = 1 b = 2", /Something after a value/],
    ["a = [1 2]", /Neither a comma nor \]/],
    ["a = { b = 1", /Neither a comma nor }/],
    ["a = 1\na = 2", /The key a a second time at line 2, column 1/],
    ["[a]\n[b]\n[a]", /The table a a second time at line 3, column 1/],
    ["a = yes", /No value/],
    ['a = "\\q"', /bad escape/],
    ["= 1", /No key/],
  ];
  for (const [text, message] of broken) {
    it(`says where ${JSON.stringify(text)} breaks`, () => {
      assert.throws(() => parseToml(text), message);
    });
  }

  it("lets lists of tables repeat, and their tables with them", () => {
    assert.equal(parseToml("[[a]]\nx = 1\n[a.b]\ny = 1\n[[a]]\nx = 2\n[a.b]\ny = 2\n").length, 8);
  });
});

/** A Python that has tomllib (3.11), which is the real reader to agree with. */
function pythonWithToml(): string | undefined {
  for (const python of ["python3", "python3.13", "python3.12", "python3.11"]) {
    try {
      execFileSync(python, ["-c", "import tomllib"], { stdio: "ignore" });
      return python;
    } catch {}
  }
  return undefined;
}

describe("a real TOML reader", () => {
  const python = pythonWithToml();
  const skip = python === undefined ? "no Python 3.11 or newer here" : false;

  function read(text: string): unknown {
    const program =
      "import sys, json, tomllib; json.dump(tomllib.loads(sys.stdin.buffer.read().decode(), parse_float=str), sys.stdout, default=str)";
    return JSON.parse(execFileSync(python ?? "", ["-c", program], { input: text, encoding: "utf8" }));
  }

  it("agrees on a file with every kind of value, before and after", { skip }, () => {
    const text = `
# all of TOML's values
s = 'C:\\x' # literal
"quoted key" = "tab\\t \\u00e9 \\U0001F600"
long = """
line "one" \\
   two"""
raw = '''
it's'''
n = [ 1, -2_000, 0xff, 0o7, 0b1, 3.5e-2, inf, -nan, 1979-05-27T07:32:00Z, 1979-05-27, 07:32:00.5, ]
t = { a.b = 1, c = { d = [ ] } }
fruit.apple.color = "red"
[deep . "er".'est']
x = true
[[many]]
name = "a"
[[many]]
name = "b"
  [many.inner]
  y = 1
`;
    const after = set(text, {
      command: 'C:\\Program Files\\"q"\n',
      args: ["-y", "\u007f\u{1F600}"],
      env: new Map([["A", "1"]]),
    });
    assert.ok(after.startsWith(text.trimEnd()));
    assert.deepEqual(read(after), {
      ...(read(text) as object),
      mcp_servers: { repl: { command: 'C:\\Program Files\\"q"\n', args: ["-y", "\u007f\u{1F600}"], env: { A: "1" } } },
    });
  });
});
