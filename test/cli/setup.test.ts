import assert from "node:assert/strict";
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { describe, it } from "node:test";
import { CLIENTS } from "../../adapters/cli/clients/list.ts";
import { machine, OWN, URL } from "./setup-harness.ts";

const { at, setup, write, read, json } = await machine();

describe("what is there is never lost", () => {
  const MINE = '{\n  // mine\n  "mcpServers": {\n    "other": { "command": "x" } // keep\n  }\n}\n';

  it("shows the change, asks, writes, and keeps a backup with the file's mode", async () => {
    const path = await write(".cursor/mcp.json", MINE);
    await chmod(path, 0o640);
    const { code, out } = await setup(["cursor"], "yes\n");
    assert.equal(code, 0);
    assert.match(out, /\+ {5}"python": \{/);
    assert.match(out, /Write this\? \[y\/N\]/);
    const names = await readdir(at(".cursor"));
    const backup = names.find((name) => name.endsWith(".bak")) ?? assert.fail(names.join());
    assert.equal(names.length, 2);
    assert.equal(await read(`.cursor/${backup}`), MINE);
    assert.equal((await stat(path)).mode & 0o777, 0o640);
    assert.equal((await stat(at(`.cursor/${backup}`))).mode & 0o777, 0o640);
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
      assert.deepEqual(await readdir(at(".cursor")), ["mcp.json"]);
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
    await mkdir(at(".cursor"));
    await symlink(real, at(".cursor/mcp.json"));
    assert.equal((await setup(["cursor", "--yes"])).code, 0);
    assert.ok((await lstat(at(".cursor/mcp.json"))).isSymbolicLink());
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
    assert.deepEqual(await readdir(at(".cursor")), ["mcp.json"]);
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
      assert.deepEqual(new Uint8Array(await readFile(at(file))), new Uint8Array(Buffer.from(text)));
      assert.equal((await readdir(dirname(at(file)))).length, 1);
    });
  }

  it("refuses a folder in the file's place, a link to nowhere, and a file in the folder's place", async () => {
    await mkdir(at(".cursor/mcp.json"), { recursive: true });
    assert.match((await setup(["cursor", "--yes"])).err, /Cannot read .*: it is a folder/);
    await symlink(at("nowhere"), at(".claude.json"));
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
    assert.equal(err, `For ${at(".claude.json")}\n`);
    assert.deepEqual(await readdir(at()), ["project"]);
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

  it("on Windows it says where code can run, unless that is settled", async () => {
    const windows = { platform: "win32" };
    assert.match(
      (await setup(["cursor", "--file", "a.json"], "", windows)).out,
      /Note: on Windows code runs only in E2B/,
    );
    const settled = await setup(["cursor", "--file", "a.json", "--env", "REPL_BACKEND=e2b"], "", windows);
    assert.doesNotMatch(settled.out, /Note:/);
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
      assert.deepEqual(await readdir(at()), ["project"]);
    });
  }
});
