import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CLIENTS } from "../../adapters/cli/clients/list.ts";
import { dataFolder } from "../../adapters/drivers/open.ts";
import { createE2bBackend } from "../../src/backends/e2b/backend.ts";
import { createSubprocessBackend } from "../../src/backends/subprocess/backend.ts";
import { parseConfig, SETTING_NAMES } from "../../src/config.ts";
import type { Backend } from "../../src/core/backend.ts";
import { ERROR_CODES } from "../../src/core/errors.ts";
import { TOOLS } from "../../src/mcp/registry.ts";
import { blockOutput } from "../../src/mcp/reply.ts";
import { RESOURCE_TEMPLATES } from "../../src/mcp/resources.ts";
import { SESSIONS_URI } from "../../src/mcp/uris.ts";
import { MAX_SEQUENCES } from "../../src/store/schemas.ts";
import { ROOT } from "../helpers/process.ts";
import { filesBelow } from "../quality/sources.ts";
import { codeIn, type Page, readPage, readPages, type Table, tableOf } from "./markdown.ts";

/** What pages say in tables and lists is what the code says. */

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const READMES = ["README.md", "README.zh-CN.md"].map(readPage);
const config: Readonly<Record<string, unknown>> = parseConfig({});

function backends(): Backend[] {
  const python = {
    ...{ executable: "python3", version: "3.9.0", externallyManaged: false, virtual: false, hasPip: true },
    ...{ uv: undefined, importPaths: [], packagePaths: [] },
  };
  const log = (): void => undefined;
  return [
    createSubprocessBackend({ python, workerPath: "main.py", env: {}, venvDir: "venv", log }),
    createE2bBackend({ apiKey: "none" }),
  ];
}

/** The table one of whose heads names a backend. */
function backendTable(page: Page): Table {
  const tables = page.sections.flatMap(({ tables }) => tables);
  const found = tables.find(([head = []]) => head.some((cell) => codeIn(cell)[0] === "subprocess"));
  assert.ok(found, page.path);
  return found;
}

describe("what each backend can do", () => {
  for (const page of READMES) {
    test(`${page.path} says it as the backends do`, () => {
      const [head = [], ...rows] = backendTable(page);
      const columns = backends();
      assert.deepEqual(
        head.slice(1).map((cell) => codeIn(cell)[0]),
        columns.map(({ name }) => name),
      );
      const said = rows.map(([flag = "", ...cells]) => [
        codeIn(flag)[0],
        cells.map((cell) => /^(?:yes|是)/.test(cell)),
      ]);
      assert.deepEqual(
        said,
        Object.keys(columns[0]?.supports ?? {}).map((flag) => [
          flag,
          columns.map(({ supports }) => supports[flag as keyof typeof supports]),
        ]),
      );
      for (const cell of rows.flatMap((row) => row.slice(1))) assert.match(cell, /^(?:yes|no|是|否)(?:[,，]|$)/);
    });
  }
});

/** A default as a page writes it; undefined where it is none or depends on the machine. */
function shownDefault(value: unknown): string | undefined {
  if (typeof value === "boolean") return value ? "1" : "0";
  return value === undefined || Array.isArray(value) ? undefined : String(value);
}

describe("settings", () => {
  const pages = [readPage("docs/settings.md"), ...READMES];
  for (const page of pages) {
    test(`${page.path} has the defaults that hold`, () => {
      for (const [name = "", shown = ""] of page.sections.flatMap(({ tables }) => tables.flat())) {
        const [setting = "", ...more] = codeIn(name);
        if (!SETTING_NAMES.includes(setting) || more.length > 0) continue;
        const wanted = shownDefault(config[setting]);
        if (wanted !== undefined) assert.equal(codeIn(shown)[0], wanted, setting);
      }
    });
  }

  test("docs/stores.md names limits as the settings have them", () => {
    const [, ...rows] = tableOf(readPage("docs/stores.md"), "limit");
    for (const [limit = "", of = "", setting = ""] of rows) {
      const [name] = codeIn(setting);
      const number = Number.parseInt(limit.replaceAll(",", ""), 10);
      if (name !== undefined) assert.equal(number, config[name], name);
      else if (of.startsWith("blocks")) assert.equal(number, MAX_SEQUENCES);
    }
  });

  test("docs/stores.md says where the data folder is", () => {
    const { text } = readPage("docs/stores.md");
    const env = { HOME: homedir() };
    for (const [system, home] of [
      ["linux", env.HOME],
      ["darwin", env.HOME],
    ] as const) {
      assert.ok(text.includes(`\`${dataFolder(env, system).replace(home, "~")}\``), system);
    }
    assert.ok(text.includes(`\`${dataFolder({ XDG_DATA_HOME: "/x" }).replace("/x", "$XDG_DATA_HOME")}\``));
  });
});

describe("tools", () => {
  test("docs/tools.md has each tool with its arguments", () => {
    const [, ...rows] = tableOf(readPage("docs/tools.md"), "tool");
    const wanted = TOOLS.map(({ name, inputSchema }) => {
      const required = inputSchema.required ?? [];
      const properties = Object.keys(inputSchema.properties ?? {});
      return [name, properties.map((property) => `${property}${required.includes(property) ? "" : "?"}`)];
    });
    assert.deepEqual(
      rows.map(([tool = "", args = ""]) => [codeIn(tool)[0], codeIn(args)]),
      wanted,
    );
  });

  for (const page of READMES) {
    test(`${page.path} has each tool once`, () => {
      const tables = page.sections.flatMap(({ tables }) => tables);
      const rows = tables.find((table) => table.some(([first = ""]) => first.includes("`create_session`"))) ?? [];
      const named = rows.flatMap(([first = ""]) => codeIn(first));
      assert.deepEqual(named.sort(), TOOLS.map(({ name }) => name).sort());
    });
  }

  test("docs/tools.md has each field of a block", () => {
    const rows = tableOf(readPage("docs/tools.md"), "field").slice(1);
    assert.deepEqual(rows.flatMap(([first = ""]) => codeIn(first)).sort(), Object.keys(blockOutput).sort());
  });

  test("docs/tools.md has each code of a refusal", () => {
    const rows = tableOf(readPage("docs/tools.md"), "code").slice(1);
    assert.deepEqual(rows.flatMap(([first = ""]) => codeIn(first)).sort(), [...ERROR_CODES].sort());
  });

  test("docs/tools.md says how much output is kept", () => {
    const [, reply = "", block = ""] =
      /keeps ([\d,]+) characters of text, a block ([\d,]+)/.exec(readPage("docs/tools.md").text) ?? [];
    const numbers = [reply, block].map((text) => Number(text.replaceAll(",", "")));
    assert.deepEqual(numbers, [config.REPL_REPLY_CHARS, config.REPL_BLOCK_CHARS]);
  });

  test("docs/tools.md has each resource", () => {
    const { text } = readPage("docs/tools.md");
    const shown = codeIn(text.slice(text.indexOf("## Resources"))).flatMap(unfolded);
    const wanted = [SESSIONS_URI, ...RESOURCE_TEMPLATES.map(({ uriTemplate }) => uriTemplate)];
    assert.deepEqual(shown.sort(), wanted.sort());
  });

  test("docs/tools.md names the magics that run", () => {
    const { text } = readPage("docs/tools.md");
    const [line = ""] = /^- `!command`[^.]*\./m.exec(text) ?? [];
    const [, table = ""] = /^_RUN = \{([^}]*)\}/m.exec(read("src/worker/magics.py")) ?? [];
    const known = [...table.matchAll(/"(\w+)":/g)].map(([, name]) => `%${name}`);
    assert.deepEqual(
      codeIn(line)
        .filter((code) => code.startsWith("%"))
        .sort(),
      known.sort(),
    );
  });
});

/** `history.{txt,md}` as two. */
function unfolded(uri: string): string[] {
  const [, before = "", list, after = ""] = /^(.*\.)\{([a-z,]+)\}(.*)$/.exec(uri) ?? [];
  return list === undefined ? [uri] : list.split(",").map((name) => before + name + after);
}

const sources = filesBelow(".", [".ts", ".tsx", ".py"]).filter((path) => /^(?:src|adapters)\//.test(path));
const code = sources.map(read).join("\n");

describe("docs/operating.md", () => {
  const page = readPage("docs/operating.md");

  test("has every event of the log and no other", () => {
    const events = [...code.matchAll(/\blog\(\s*"([^"]+)"/g)].map(([, event = ""]) => event);
    const shown = tableOf(page, "event")
      .slice(1)
      .flatMap(([first = ""]) => codeIn(first));
    assert.deepEqual(shown.sort(), [...new Set(events)].sort());
  });

  test("quotes what the server says", () => {
    const quoted = tableOf(page, "you see")
      .slice(1)
      .flatMap(([first = ""]) => codeIn(first));
    for (const quote of quoted) {
      // A number or a name in a message is filled in.
      const words = quote.split(/…|\b8000 of 127\.0\.0\.1\b/).map((part) => part.trim().replace(/[()]/g, ""));
      for (const part of words) assert.ok(code.includes(part), quote);
    }
  });
});

describe("README.md", () => {
  const { text } = readPage("README.md");

  test("names every client that setup knows", () => {
    const [, list = ""] = /Instead of `cursor`: ([\s\S]*?)\. /.exec(text) ?? [];
    assert.deepEqual(["cursor", ...codeIn(list)].sort(), CLIENTS.map(({ id }) => id).sort());
  });

  test("asks for the versions that are needed", () => {
    const { engines } = JSON.parse(read("package.json"));
    const [, minor] = /OLDEST_MINOR = (\d+)/.exec(code) ?? [];
    assert.ok(text.includes(`Node ${engines.node.replace(">=", "")} or newer`));
    assert.ok(text.includes(`Python 3.${minor} or newer`));
  });
});

describe("names of files on pages", () => {
  for (const page of [...readPages(), readPage("README.zh-CN.md")]) {
    test(page.path, () => {
      const named = page.sections.flatMap(({ prose }) => codeIn(prose));
      const paths = named.filter((path) => /^(?:src|adapters|test|docs|scripts)\/[\w./-]*$/.test(path));
      const missing = paths.filter((path) => !path.includes("NAME") && !existsSync(join(ROOT, path)));
      assert.deepEqual(missing, []);
    });
  }
});
