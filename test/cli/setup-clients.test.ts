import assert from "node:assert/strict";
import { readdir } from "node:fs/promises";
import { describe, it } from "node:test";
import { CLIENTS, findClient } from "../../adapters/cli/clients/list.ts";
import { userFile } from "../../adapters/cli/clients/paths.ts";
import type { Client } from "../../adapters/cli/clients/types.ts";
import type { CliIo } from "../../adapters/cli/setup-io.ts";
import { machine, OWN, URL } from "./setup-harness.ts";

const { at, setup, write, read, json } = await machine();

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
      assert.deepEqual(await readdir(at()), ["project"]);
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
    assert.ok(out.includes(at(".cursor/mcp.json")));
  });
});
