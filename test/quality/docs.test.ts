import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { SETTING_NAMES } from "../../src/config.ts";
import { TOOLS } from "../../src/mcp/registry.ts";
import { filesBelow, ROOT } from "./sources.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const documents = [...filesBelow(".", [".md"])].filter((path) => !/^(?:src|\.lead)\//.test(path));
/** A variable of the reader's own in examples. */
const READERS = ["REPL_TOKEN"];

test("docs/settings.md has every setting and no other", () => {
  const named = new Set(
    read("docs/settings.md")
      .match(/`((?:REPL|MCP|E2B)_[A-Z0-9_]+)`/g)
      ?.map((name) => name.slice(1, -1)),
  );
  named.delete("REPL_");
  assert.deepEqual([...named].sort(), [...SETTING_NAMES].sort());
});

test("docs name no setting that does not exist", () => {
  for (const path of documents) {
    const named = read(path).match(/\bREPL_[A-Z0-9_]+\b/g) ?? [];
    const unknown = named.filter((name) => !SETTING_NAMES.includes(name) && !READERS.includes(name));
    assert.deepEqual(unknown, [], path);
  }
});

test("the README's and docs/tools.md's tables have every tool", () => {
  for (const path of ["README.md", "README.zh-CN.md", "docs/tools.md"]) {
    const text = read(path);
    assert.deepEqual(
      TOOLS.map(({ name }) => name).filter((name) => !text.includes(`\`${name}\``)),
      [],
      path,
    );
  }
});

/** GitHub's name for a heading. */
function anchorsOf(path: string): string[] {
  const headings = read(path).match(/^#+ .+$/gm) ?? [];
  return headings.map((heading) =>
    heading
      .replace(/^#+ /, "")
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

test("links between documents lead somewhere", () => {
  for (const path of documents) {
    const broken = [...read(path).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].flatMap(
      ([, file = "", anchor]) => {
        const target = file === "" ? path : join(dirname(path), file);
        if (!existsSync(join(ROOT, target))) return [target];
        return anchor === undefined || anchorsOf(target).includes(anchor) ? [] : [`${target}#${anchor}`];
      },
    );
    assert.deepEqual(broken, [], path);
  }
});

test("docs/README.md leads to every page of docs", () => {
  const listed = [...read("docs/README.md").matchAll(/\]\(([\w-]+\.md)\)/g)].map(([, page]) => page);
  const pages = filesBelow("docs", [".md"]).map((path) => path.slice("docs/".length));
  assert.deepEqual(
    pages.filter((page) => page !== "README.md" && !listed.includes(page)),
    [],
  );
});

test("CHANGELOG.md begins with the version of the package and counts its tools", () => {
  const { version } = JSON.parse(read("package.json"));
  const [, newest, count] = /^## (\S+?),?[ \n][\s\S]*?^- (\d+) tools/m.exec(read("CHANGELOG.md")) ?? [];
  assert.deepEqual([newest, Number(count)], [version, TOOLS.length]);
});
