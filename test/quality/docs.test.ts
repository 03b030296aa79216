import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { SETTING_NAMES } from "../../src/config.ts";
import { TOOLS } from "../../src/mcp/registry.ts";
import { filesBelow, ROOT } from "./sources.ts";

const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");
const documents = [...filesBelow(".", [".md"])].filter((path) => !path.startsWith("src/"));

test("docs/settings.md has every setting and no other", () => {
  const named = new Set(read("docs/settings.md").match(/`((?:REPL|MCP|E2B)_[A-Z0-9_]+)`/g)?.map((name) => name.slice(1, -1)));
  named.delete("REPL_");
  assert.deepEqual([...named].sort(), [...SETTING_NAMES].sort());
});

test("docs name no setting that does not exist", () => {
  for (const path of documents) {
    const unknown = (read(path).match(/\bREPL_[A-Z0-9_]+\b/g) ?? []).filter((name) => !SETTING_NAMES.includes(name));
    assert.deepEqual(unknown, [], path);
  }
});

test("the README's and docs/tools.md's tables have every tool", () => {
  for (const path of ["README.md", "docs/tools.md"]) {
    const text = read(path);
    assert.deepEqual(TOOLS.map(({ name }) => name).filter((name) => !text.includes(`\`${name}\``)), [], path);
  }
});

test("links between documents lead somewhere", () => {
  for (const path of documents) {
    const links = [...read(path).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, to]) => to ?? "");
    const broken = links.filter((to) => !existsSync(join(ROOT, dirname(path), to)));
    assert.deepEqual(broken, [], path);
  }
});
