import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { CLIENTS, findClient } from "../../adapters/cli/clients/list.ts";
import { setupCommand } from "../../adapters/cli/setup.ts";
import { SETTING_NAMES } from "../../src/config.ts";
import { parseYaml } from "./small-yaml.ts";

const root = new URL("../../", import.meta.url);
const read = (name: string) => readFile(new URL(name, root), "utf8");
const pages = {
  "docs/clients.md": await read("docs/clients.md"),
  "docs/deploy-docker.md": await read("docs/deploy-docker.md"),
};

/** Fenced blocks of one language. */
function blocks(page: string, language: string): string[] {
  return [...page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter((match) => match[1] === language)
    .map((match) => match[2] ?? "");
}

/** Runs `setup` as `npx` would start it, with nothing written. */
async function setup(args: readonly string[]): Promise<{ code: number; out: string }> {
  let out = "";
  const code = await setupCommand(args, {
    stdout: { write: (text) => (out += text) },
    stderr: { write: () => {} },
    stdin: (async function* () {})(),
    env: {},
    home: "/home/me",
    platform: "linux",
    cwd: "/home/me/project",
    program: { node: "/usr/bin/node", script: "/home/me/.npm/_npx/1/node_modules/.bin/edge-python-repl" },
  });
  return { code, out };
}

for (const [name, page] of Object.entries(pages)) {
  describe(name, () => {
    const commands = blocks(page, "console").flatMap((block) =>
      block.split("\n").filter((line) => line.startsWith("$ ")),
    );

    it("shows setup commands that work as they stand", async () => {
      const shown = commands.filter((line) => line.includes(" setup "));
      assert.ok(shown.length > 0);
      for (const line of shown) {
        const [, args = ""] = /^\$ npx edge-python-repl setup (.*)$/.exec(line) ?? [];
        // --print comes first: --command takes all that follows it.
        const [client = "", ...rest] = args.split(" ");
        assert.equal((await setup([client, "--print", ...rest])).code, 0, line);
      }
    });

    it("names settings that exist", () => {
      const own = ["REPL_TOKEN"]; // The variable of the reader's own in the examples.
      const named = new Set(page.match(/\b(REPL|MCP|E2B)_[A-Z_]+\b/g));
      assert.deepEqual(
        [...named].filter((setting) => !SETTING_NAMES.includes(setting) && !own.includes(setting)),
        [],
      );
    });
  });
}

describe("docs/clients.md", () => {
  const page = pages["docs/clients.md"];

  it("has each client's files as setup knows them", () => {
    const rows = page.split("\n").filter((line) => /^\| .* \| `[a-z-]+` \| /.test(line));
    assert.deepEqual(
      rows.map((row) => row.split("|")[2]?.trim().replaceAll("`", "")),
      CLIENTS.map((client) => client.id),
    );
    for (const row of rows) {
      const [, title, id = "", linux, mac, windows, project] = row
        .split("|")
        .map((cell) => cell.trim().replaceAll("`", ""));
      const client = findClient(id);
      assert.equal(client?.title, title);
      if (client?.file === undefined) continue;
      const { user } = client.file;
      const short = (path = "") =>
        path
          .replace(/^\$(HOME|CLAUDE_CONFIG_DIR)/, "~")
          .replace("$CODEX_HOME", "~/.codex")
          .replace("$XDG_CONFIG_HOME", "~/.config")
          .replace(/^\$APPDATA(.*)/, (_, rest: string) => `%APPDATA%${rest.replaceAll("/", "\\")}`);
      assert.equal(linux, short(user.linux[0]), id);
      assert.equal(mac === "the same" ? linux : mac, short(user.darwin[0]), id);
      assert.equal(windows === "the same" ? linux : windows, short(user.win32.at(-1)), id);
      assert.equal(project === "–" ? undefined : project, client.file.project, id);
    }
  });

  it("prints what setup prints", async () => {
    const shown = [...page.matchAll(/<!-- setup ([\w -]+) -->\n```\w+\n([\s\S]*?)```/g)];
    const clients = shown.flatMap(([, names = "", text = ""]) =>
      names
        .trim()
        .split(" ")
        .map((id) => [id, text] as const),
    );
    assert.deepEqual(
      clients.map(([id]) => id).sort(),
      CLIENTS.filter((client) => client.file)
        .map((client) => client.id)
        .sort(),
    );
    for (const [id, text] of clients) assert.equal((await setup([id, "--print"])).out, text, id);
  });

  it("says how each client names a token's variable", async () => {
    const table = page.slice(
      page.indexOf("| client | the entry has |"),
      page.indexOf("`edge-python-repl token new NAME`"),
    );
    for (const row of table
      .split("\n")
      .filter((line) => line.startsWith("| "))
      .slice(1)) {
      const [, names = "", entry = ""] = row.split("|").map((cell) => cell.trim());
      const form = /`(.*REPL_TOKEN.*)`/.exec(entry)?.[1];
      for (const client of CLIENTS.filter(({ title }) => names.split(", ").some((each) => title.startsWith(each)))) {
        const { code, out } = await setup([
          client.id,
          "--print",
          "--url",
          "https://x.example/mcp",
          "--token-env",
          "REPL_TOKEN",
        ]);
        if (form !== undefined) assert.ok(out.includes(form), client.id);
        else if (client.id === "vscode") assert.match(out, /"inputs"[\s\S]*"promptString"/);
        else assert.ok(code === 2 || out.startsWith("1. "), client.id);
      }
    }
  });

  it("packs the version that package.json has", async () => {
    const { version } = JSON.parse(await read("package.json")) as { version: string };
    assert.ok(page.includes(`/tmp/edge-python-repl-${version}.tgz`));
  });
});

describe("docs/deploy-docker.md", async () => {
  const page = pages["docs/deploy-docker.md"];
  const compose = parseYaml(await read("compose.yaml")) as unknown as {
    name: string;
    services: Record<string, { image: string }>;
    volumes: Record<string, null>;
  };

  it("names the image, the services and the volumes as compose.yaml has them", () => {
    assert.ok(page.includes(`docker build -t ${compose.services.repl?.image} .`));
    for (const [, service = ""] of page.matchAll(/docker compose logs -f (\w+)/g))
      assert.ok(service in compose.services);
    for (const volume of Object.keys(compose.volumes))
      assert.ok(page.includes(`\`${compose.name}_${volume}\``), volume);
  });

  it("mounts the folders that the image keeps", async () => {
    const volumes = JSON.parse(/^VOLUME (.*)$/m.exec(await read("Dockerfile"))?.[1] ?? "[]") as string[];
    for (const folder of volumes) assert.ok(page.includes(`:${folder} `) && page.includes(`| \`${folder}\` |`), folder);
  });
});
