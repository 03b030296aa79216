import assert from "node:assert/strict";
import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { CLIENTS, findClient } from "../../adapters/cli/clients/list.ts";
import { userFile } from "../../adapters/cli/clients/paths.ts";
import type { Client } from "../../adapters/cli/clients/types.ts";
import { setupCommand } from "../../adapters/cli/setup.ts";
import { diffLines } from "../../adapters/cli/setup-diff.ts";
import type { CliIo } from "../../adapters/cli/setup-io.ts";

const ROOT = await mkdtemp(join(tmpdir(), "setup-test-"));
after(() => rm(ROOT, { recursive: true, force: true }));

type Run = { readonly code: number; readonly out: string; readonly err: string };

let home = "";
let count = 0;

beforeEach(async () => {
  home = join(ROOT, `home-${count++}`);
  await mkdir(join(home, "project"), { recursive: true });
});

/** Runs `setup` as a person in `home` would; `answer` is what they type. */
async function setup(args: readonly string[], answer = "", over: Partial<CliIo> = {}): Promise<Run> {
  let out = "";
  let err = "";
  const io: CliIo = {
    stdout: { write: (text) => (out += text) },
    stderr: { write: (text) => (err += text) },
    stdin: (async function* () {
      if (answer !== "") yield answer;
    })(),
    env: {},
    home,
    platform: "linux",
    cwd: join(home, "project"),
    program: { node: "/opt/node", script: "/opt/edge/dist/cli.js" },
    ...over,
  };
  const code = await setupCommand(args, io);
  return { code, out, err };
}

async function write(path: string, text: string | Uint8Array): Promise<string> {
  const full = join(home, path);
  await mkdir(dirname(full), { recursive: true });
  await writeFile(full, text);
  return full;
}

const read = (path: string) => readFile(join(home, path), "utf8");
const json = async (path: string) => JSON.parse(await read(path)) as Record<string, Record<string, unknown>>;

const OWN = { command: "/opt/node", args: ["/opt/edge/dist/cli.js"] };
const URL = "https://repl.example.com/mcp";

describe("each client gets the entry that its documentation describes", () => {
  const bearer = (value: string) => ({ headers: { Authorization: `Bearer $\{${value}}` } });
  const expected: readonly {
    client: string;
    file: string;
    key: string;
    local: object;
    remote?: object;
  }[] = [
    { client: "claude-desktop", file: ".config/Claude/claude_desktop_config.json", key: "mcpServers", local: OWN },
    {
      client: "claude-code",
      file: ".claude.json",
      key: "mcpServers",
      local: { type: "stdio", ...OWN },
      remote: { type: "http", url: URL, ...bearer("MY_TOKEN") },
    },
    {
      client: "cursor",
      file: ".cursor/mcp.json",
      key: "mcpServers",
      local: OWN,
      remote: { url: URL, ...bearer("env:MY_TOKEN") },
    },
    {
      client: "vscode",
      file: ".config/Code/User/mcp.json",
      key: "servers",
      local: { type: "stdio", ...OWN },
      remote: { type: "http", url: URL, ...bearer("input:python-token") },
    },
    {
      client: "windsurf",
      file: ".codeium/windsurf/mcp_config.json",
      key: "mcpServers",
      local: OWN,
      remote: { serverUrl: URL, ...bearer("env:MY_TOKEN") },
    },
    { client: "devin", file: ".config/devin/mcp_config.json", key: "mcpServers", local: OWN },
    {
      client: "kiro",
      file: ".kiro/settings/mcp.json",
      key: "mcpServers",
      local: OWN,
      remote: { url: URL, ...bearer("MY_TOKEN") },
    },
    { client: "zed", file: ".config/zed/settings.json", key: "context_servers", local: OWN },
    {
      client: "gemini-cli",
      file: ".gemini/settings.json",
      key: "mcpServers",
      local: OWN,
      remote: { httpUrl: URL, ...bearer("MY_TOKEN") },
    },
  ];
  for (const { client, file, key, local, remote } of expected) {
    it(`${client}: a program to start`, async () => {
      const { code, err } = await setup([client, "--yes"]);
      assert.deepEqual({ code, err }, { code: 0, err: "" });
      assert.deepEqual((await json(file))[key], { python: local });
    });
    if (remote !== undefined) {
      it(`${client}: a URL with a token from a variable`, async () => {
        const { code } = await setup([client, "--url", URL, "--token-env", "MY_TOKEN", "--yes"]);
        assert.equal(code, 0);
        assert.deepEqual((await json(file))[key], { python: remote });
      });
    }
  }

  it("codex: TOML, with a URL and the token's variable as a key", async () => {
    await setup(["codex", "--yes", "--env", "REPL_PYTHON=/usr/bin/python3"]);
    assert.equal(
      await read(".codex/config.toml"),
      '[mcp_servers.python]\ncommand = "/opt/node"\nargs = ["/opt/edge/dist/cli.js"]\nenv = { REPL_PYTHON = "/usr/bin/python3" }\n',
    );
    await setup(["codex", "--yes", "--url", URL, "--token-env", "MY_TOKEN"]);
    assert.equal(
      await read(".codex/config.toml"),
      `[mcp_servers.python]\nurl = "${URL}"\nbearer_token_env_var = "MY_TOKEN"\n`,
    );
  });

  it("vscode: the token is declared as an input, once", async () => {
    await write(".config/Code/User/mcp.json", '{\n  "inputs": [\n    { "id": "mine" }\n  ]\n}\n');
    await setup(["vscode", "--url", URL, "--token-env", "T", "--yes"]);
    await setup(["vscode", "--url", URL.replace("mcp", "m"), "--token-env", "T", "--yes"]);
    const { inputs } = (await json(".config/Code/User/mcp.json")) as unknown as {
      inputs: { id: string; password?: boolean }[];
    };
    assert.deepEqual(
      inputs.map(({ id, password }) => [id, password]),
      [
        ["mine", undefined],
        ["python-token", true],
      ],
    );
  });

  for (const client of ["chatgpt", "claude-desktop"]) {
    it(`${client}: a URL goes in by hand, so the steps are printed and nothing is written`, async () => {
      const { code, out } = await setup([client, "--url", URL]);
      assert.equal(code, 0);
      assert.match(out, /^1\. .*HTTPS\n2\. .*Settings/);
      assert.ok(out.includes(URL));
      assert.deepEqual(await readdir(home), ["project"]);
    });
  }

  it("chatgpt: says that an address of this machine cannot be reached", async () => {
    assert.match((await setup(["chatgpt", "--url", "http://127.0.0.1:8000/mcp"])).err, /cannot reach it/);
  });

  for (const client of ["devin", "zed"]) {
    it(`${client}: a token's variable is refused with what to do instead`, async () => {
      const { code, err } = await setup([client, "--url", URL, "--token-env", "T", "--yes"]);
      assert.equal(code, 2);
      assert.match(err, /leave --token-env out and sign in with OAuth/);
    });
  }
});

describe("where each client keeps its file", () => {
  const base: CliIo = {
    stdout: { write() {} },
    stderr: { write() {} },
    stdin: (async function* () {})(),
    env: {},
    home: "",
    platform: "",
  };
  const mac = { ...base, home: "/Users/a", platform: "darwin" };
  const windows = {
    ...base,
    home: "C:\\Users\\a",
    platform: "win32",
    env: { APPDATA: "C:\\Users\\a\\AppData\\Roaming", LOCALAPPDATA: "C:\\Users\\a\\AppData\\Local" },
  };
  const none = () => [];
  const client = (id: string): Client => findClient(id) ?? assert.fail(id);

  const places: readonly [id: string, mac: string, windows: string][] = [
    [
      "claude-desktop",
      "Library/Application Support/Claude/claude_desktop_config.json",
      "AppData\\Roaming\\Claude\\claude_desktop_config.json",
    ],
    ["claude-code", ".claude.json", ".claude.json"],
    ["cursor", ".cursor/mcp.json", ".cursor\\mcp.json"],
    ["vscode", "Library/Application Support/Code/User/mcp.json", "AppData\\Roaming\\Code\\User\\mcp.json"],
    ["windsurf", ".codeium/windsurf/mcp_config.json", ".codeium\\windsurf\\mcp_config.json"],
    ["devin", ".config/devin/mcp_config.json", "AppData\\Roaming\\devin\\mcp_config.json"],
    ["kiro", ".kiro/settings/mcp.json", ".kiro\\settings\\mcp.json"],
    ["zed", ".config/zed/settings.json", "AppData\\Roaming\\Zed\\settings.json"],
    ["codex", ".codex/config.toml", ".codex\\config.toml"],
    ["gemini-cli", ".gemini/settings.json", ".gemini\\settings.json"],
  ];
  for (const [id, onMac, onWindows] of places) {
    it(`${id} on macOS and Windows`, () => {
      assert.equal(userFile(client(id), mac, none), `/Users/a/${onMac}`);
      assert.equal(userFile(client(id), windows, none), `C:\\Users\\a\\${onWindows}`);
    });
  }

  it("a packaged Claude Desktop on Windows has its own copy of the folder", () => {
    const list = (folder: string) => (folder.endsWith("Packages") ? ["Claude_abc123", "Other"] : []);
    assert.equal(
      userFile(client("claude-desktop"), windows, list),
      "C:\\Users\\a\\AppData\\Local\\Packages\\Claude_abc123\\LocalCache\\Roaming\\Claude\\claude_desktop_config.json",
    );
  });

  it("variables of the platform and of the client move it", () => {
    const linux = {
      ...base,
      home: "/h",
      platform: "linux",
      env: { XDG_CONFIG_HOME: "/x", CODEX_HOME: "/c", CLAUDE_CONFIG_DIR: "/cc" },
    };
    assert.equal(userFile(client("zed"), linux, none), "/x/zed/settings.json");
    assert.equal(userFile(client("codex"), linux, none), "/c/config.toml");
    assert.equal(userFile(client("claude-code"), linux, none), "/cc/.claude.json");
  });

  it("names are found however they are typed", () => {
    for (const name of ["VS Code", "vs-code", "code"]) assert.equal(findClient(name)?.id, "vscode");
    assert.equal(findClient("Gemini")?.id, "gemini-cli");
    assert.equal(findClient("claude")?.id, "claude-desktop");
  });

  it("without a client, all are listed with their files", async () => {
    const { code, out } = await setup([]);
    assert.equal(code, 0);
    assert.equal(out.trim().split("\n").length, CLIENTS.length);
    assert.ok(out.includes(join(home, ".cursor/mcp.json")));
  });
});

describe("what is there is never lost", () => {
  const MINE = '{\n  // mine\n  "mcpServers": {\n    "other": { "command": "x" } // keep\n  }\n}\n';

  it("shows the change, asks, writes, and keeps a backup with the file's mode", async () => {
    const path = await write(".cursor/mcp.json", MINE);
    await chmod(path, 0o640);
    const { code, out } = await setup(["cursor"], "yes\n");
    assert.equal(code, 0);
    assert.match(out, /\+ {5}"python": \{/);
    assert.match(out, /Write this\? \[y\/N\]/);
    const names = await readdir(join(home, ".cursor"));
    const backup = names.find((name) => name.endsWith(".bak")) ?? assert.fail(names.join());
    assert.equal(names.length, 2);
    assert.equal(await read(`.cursor/${backup}`), MINE);
    assert.equal((await stat(path)).mode & 0o777, 0o640);
    assert.equal((await stat(join(home, ".cursor", backup))).mode & 0o777, 0o640);
    const text = await read(".cursor/mcp.json");
    assert.match(text, /\/\/ mine/);
    assert.match(text, /"other": { "command": "x" }, \/\/ keep/);
  });

  for (const answer of ["", "n\n", "\n", "nope\n"]) {
    it(`${JSON.stringify(answer)} is a no: exit 1, nothing written`, async () => {
      await write(".cursor/mcp.json", MINE);
      const { code, out } = await setup(["cursor"], answer);
      assert.equal(code, 1);
      assert.match(out, /Nothing was written/);
      assert.equal(await read(".cursor/mcp.json"), MINE);
      assert.deepEqual(await readdir(join(home, ".cursor")), ["mcp.json"]);
    });
  }

  it("a second run finds it there and writes nothing", async () => {
    for (const { id } of CLIENTS.filter((client) => client.file !== undefined)) {
      await setup([id, "--yes", "--env", "A=1"]);
      const { code, out } = await setup([id, "--yes", "--env", "A=1"]);
      assert.equal(code, 0);
      assert.match(out, /already has it/, id);
    }
  });

  it("what a person added to our entry stays", async () => {
    await write(
      ".kiro/settings/mcp.json",
      '{"mcpServers": {"python": {"command": "old", "args": [], "env": {"MINE": "1"}, "autoApprove": ["run_code"]}}}',
    );
    await setup(["kiro", "--yes", "--env", "OURS=2"]);
    assert.deepEqual((await json(".kiro/settings/mcp.json")).mcpServers?.python, {
      ...OWN,
      env: { MINE: "1", OURS: "2" },
      autoApprove: ["run_code"],
    });
  });

  it("an entry that changes from a program to a URL keeps nothing of the program", async () => {
    await setup(["claude-code", "--yes", "--env", "A=1"]);
    await setup(["claude-code", "--yes", "--url", URL]);
    assert.deepEqual((await json(".claude.json")).mcpServers?.python, { type: "http", url: URL });
  });

  it("a link stays a link", async () => {
    const real = await write("dotfiles/mcp.json", MINE);
    await mkdir(join(home, ".cursor"));
    await symlink(real, join(home, ".cursor/mcp.json"));
    assert.equal((await setup(["cursor", "--yes"])).code, 0);
    assert.ok((await lstat(join(home, ".cursor/mcp.json"))).isSymbolicLink());
    assert.match(await read("dotfiles/mcp.json"), /"python"/);
  });

  it("a file that another program changes meanwhile is left to it", async () => {
    const path = await write(".cursor/mcp.json", MINE);
    const stdin = (async function* () {
      await writeFile(path, "{}");
      yield "y\n";
    })();
    const { code, err } = await setup(["cursor"], "", { stdin });
    assert.equal(code, 1);
    assert.match(err, /was changed by another program just now/);
    assert.equal(await read(".cursor/mcp.json"), "{}");
    assert.deepEqual(await readdir(join(home, ".cursor")), ["mcp.json"]);
  });

  const refused: readonly [what: string, client: string, file: string, text: string | Uint8Array, message: RegExp][] = [
    [
      "broken JSON",
      "cursor",
      ".cursor/mcp.json",
      '{\n  "mcpServers": {\n}',
      /could not read it either: .* at line 3, column 2/,
    ],
    [
      "broken TOML",
      "codex",
      ".codex/config.toml",
      "model = \n",
      /could not read it either: No value at line 1, column 9/,
    ],
    [
      "comments where the client refuses them",
      "claude-desktop",
      ".config/Claude/claude_desktop_config.json",
      "{ // x\n}",
      /A comment.* at line 1, column 3/,
    ],
    [
      "a list where the servers belong",
      "cursor",
      ".cursor/mcp.json",
      '{"mcpServers": []}',
      /"mcpServers" is a list where an object belongs/,
    ],
    [
      "bytes that are not UTF-8",
      "cursor",
      ".cursor/mcp.json",
      Uint8Array.of(0xff, 0xfe, 0x7b, 0),
      /it is not UTF-8 text/,
    ],
    [
      "an inline table",
      "codex",
      ".codex/config.toml",
      "mcp_servers = {}\n",
      /To add it by hand:\n\[mcp_servers.python\]/,
    ],
  ];
  for (const [what, client, file, text, message] of refused) {
    it(`refuses ${what} and leaves it alone`, async () => {
      await write(file, text);
      const { code, err } = await setup([client, "--yes"]);
      assert.equal(code, 1);
      assert.match(err, message);
      assert.deepEqual(new Uint8Array(await readFile(join(home, file))), new Uint8Array(Buffer.from(text)));
      assert.equal((await readdir(dirname(join(home, file)))).length, 1);
    });
  }

  it("refuses a folder in the file's place, a link to nowhere, and a file in the folder's place", async () => {
    await mkdir(join(home, ".cursor/mcp.json"), { recursive: true });
    assert.match((await setup(["cursor", "--yes"])).err, /Cannot read .*: it is a folder/);
    await symlink(join(home, "nowhere"), join(home, ".claude.json"));
    assert.match((await setup(["claude-code", "--yes"])).err, /a link to a file that does not exist/);
    await write(".gemini", "x");
    assert.match((await setup(["gemini-cli", "--yes"])).err, /a part of its path is not a folder/);
  });

  it("refuses a file of more than 32 MB", async () => {
    await write(".cursor/mcp.json", " ".repeat(33 * 1024 * 1024));
    assert.match((await setup(["cursor", "--yes"])).err, /more than 33554432/);
  });
});

describe("what is written", () => {
  it("--print prints the configuration and writes nothing", async () => {
    const { code, out, err } = await setup(["claude-code", "--print"]);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out), { mcpServers: { python: { type: "stdio", ...OWN } } });
    assert.equal(err, `For ${join(home, ".claude.json")}\n`);
    assert.deepEqual(await readdir(home), ["project"]);
  });

  it("--project writes the project's file with a command that suits every machine", async () => {
    const { code } = await setup(["vscode", "--project", "--yes"]);
    assert.equal(code, 0);
    assert.deepEqual((await json("project/.vscode/mcp.json")).servers?.python, {
      type: "stdio",
      command: "npx",
      args: ["-y", "edge-python-repl"],
    });
  });

  it("a program in npx's cache is started through npx again", async () => {
    const program = { node: "/opt/node", script: "/h/.npm/_npx/1a/node_modules/.bin/edge-python-repl" };
    await setup(["cursor", "--yes"], "", { program });
    assert.deepEqual((await json(".cursor/mcp.json")).mcpServers?.python, {
      command: "npx",
      args: ["-y", "edge-python-repl"],
    });
    const { out } = await setup(["cursor", "--print", "--file", "x.json"], "", { program, platform: "win32" });
    assert.deepEqual(JSON.parse(out).mcpServers.python.args, ["/c", "npx", "-y", "edge-python-repl"]);
  });

  it("--command takes all that follows", async () => {
    await setup(["cursor", "--yes", "--name", "py", "--command", "docker", "run", "-i", "--rm", "image", "--yes"]);
    assert.deepEqual((await json(".cursor/mcp.json")).mcpServers, {
      py: { command: "docker", args: ["run", "-i", "--rm", "image", "--yes"] },
    });
  });

  it("--file writes another file, relative to this folder", async () => {
    await setup(["vscode", "--yes", "--file", "insiders.json"]);
    assert.ok((await json("project/insiders.json")).servers);
  });

  it("a URL without a path means its /mcp, and a token over http is warned of", async () => {
    const { out } = await setup(["cursor", "--yes", "--url", "http://repl.example.com", "--token-env", "T"]);
    assert.equal((await json(".cursor/mcp.json")).mcpServers?.python !== undefined, true);
    assert.match(out, /"url": "http:\/\/repl.example.com\/mcp"/);
    assert.match(out, /use https:\/\//);
  });

  const wrong: readonly [args: string[], message: RegExp][] = [
    [["emacs"], /Unknown client "emacs"; the clients are claude-desktop, /],
    [["cursor", "--frobnicate"], /Unknown option --frobnicate/],
    [["cursor", "zed"], /One client at a time/],
    [["cursor", "--url", "nope"], /--url must be a URL that starts with http/],
    [["cursor", "--url", "https://user:pw@x.com/mcp"], /must not hold a user name or password/],
    [["cursor", "--url", URL, "--command", "x"], /either --url or --command/],
    [["cursor", "--command"], /--command needs the program/],
    [["cursor", "--token-env", "T"], /--token-env needs --url/],
    [["cursor", "--url", URL, "--token-env", "Bearer x"], /name of a variable, not a token/],
    [["cursor", "--env", "novalue"], /--env takes NAME=VALUE/],
    [["cursor", "--url", URL, "--env", "A=1"], /leave it out with --url/],
    [["cursor", "--name", "a b"], /--name must be 1 to 64/],
    [["cursor", "--name"], /--name needs a value/],
    [["windsurf", "--project"], /has no configuration file per project/],
    [["chatgpt", "--yes", "--print=1"], /Unknown option/],
  ];
  for (const [args, message] of wrong) {
    it(`${args.join(" ")} → exit 2`, async () => {
      const { code, err } = await setup(args);
      assert.equal(code, 2);
      assert.match(err, message);
      assert.deepEqual(await readdir(home), ["project"]);
    });
  }
});

describe("the shown change", () => {
  it("has two lines around each change and skips what is between", () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}`).join("\n");
    const after = before.replace("line 3", "line three").replace("line 15", "line fifteen");
    assert.equal(
      diffLines(before, after),
      "  line 1\n  line 2\n- line 3\n+ line three\n  line 4\n  line 5\n  ⋮\n  line 13\n  line 14\n- line 15\n+ line fifteen\n  line 16\n  line 17\n",
    );
  });

  it("is empty for no change, and all plus for a new file", () => {
    assert.equal(diffLines("a\n", "a\n"), "");
    assert.equal(diffLines("", "a\nb\n"), "+ a\n+ b\n");
  });

  it("cuts long lines, to the place that changed", () => {
    assert.equal(diffLines("", "x".repeat(1000)).length, 162);
    const long = "x".repeat(1000);
    const [removed = "", added = ""] = diffLines(`${long}1${long}`, `${long}2${long}`).split("\n");
    assert.match(removed, /^- …x+1x+…$/);
    assert.match(added, /^\+ …x+2x+…$/);
  });
});
