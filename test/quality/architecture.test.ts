import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { filesBelow, ROOT, readSources, type Source } from "./sources.ts";

/** What each part of `src` may import, itself aside. Imports point down only; backends never see each other. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  "src/core": [],
  "src/version.ts": [],
  "src/render": ["src/core"],
  "src/store": ["src/core"],
  "src/auth": ["src/core"],
  "src/limits": ["src/core"],
  "src/backends/subprocess": ["src/core"],
  "src/backends/e2b": ["src/core", "src/auth/seal.ts", "src/auth/bytes.ts"],
  "src/config.ts": ["src/core", "src/auth"],
  "src/sessions": ["src/core", "src/store", "src/limits"],
  "src/mcp-app": ["src/core", "src/render", "src/version.ts"],
  "src/mcp": ["src/core", "src/sessions", "src/render", "src/auth", "src/mcp-app", "src/version.ts"],
  "src/web": ["src/core", "src/sessions", "src/render", "src/auth", "src/mcp", "src/version.ts"],
  "src/app.ts": [
    "src/core",
    "src/auth",
    "src/config.ts",
    "src/limits",
    "src/mcp",
    "src/sessions",
    "src/web",
    "src/version.ts",
  ],
};

const sources = readSources("src");
const everything = [...sources, ...readSources("adapters"), ...readSources("test"), ...readSources("bench")];

function within(path: string, part: string): boolean {
  return path === part || path.startsWith(`${part}/`);
}

function partOf(path: string): string | undefined {
  return Object.keys(LAYERS).find((part) => within(path, part));
}

test("every file of src belongs to a known part", () => {
  assert.deepEqual(
    sources.map(({ path }) => path).filter((path) => !partOf(path)),
    [],
  );
});

test("imports in src point down only", () => {
  const wrong = sources.flatMap(({ path, imports }) => {
    const part = partOf(path) ?? "";
    const allowed = [part, ...(LAYERS[part] ?? [])];
    return imports.filter((to) => !allowed.some((below) => within(to, below))).map((to) => `${path} -> ${to}`);
  });
  assert.deepEqual(wrong, []);
});

test("no file is part of an import cycle at run time", () => {
  const byPath = new Map(everything.map((source) => [source.path, source]));
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      cycles.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    if (done.has(path)) return;
    for (const next of byPath.get(path)?.loads ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const { path } of everything) visit(path, []);
  assert.deepEqual(cycles, []);
});

/** Platform globals and modules that only adapters and the subprocess backend may use. */
const FORBIDDEN = [
  /\bprocess\.(?!nextTick)/,
  /\bBuffer\b/,
  /\b(?:Deno|Bun)\./,
  /(?<![.\w])require\(/,
  /\b__dirname\b/,
  /\bsetImmediate\(/,
];

test("src uses web standards only, the subprocess backend aside", () => {
  const core = sources.filter(({ path }) => !within(path, "src/backends/subprocess"));
  const wrong = core.flatMap(({ path, text, packages }) => [
    ...packages.filter((name) => name.startsWith("node:")).map((name) => `${path} imports ${name}`),
    ...FORBIDDEN.filter((pattern) => pattern.test(withoutComments(text))).map((pattern) => `${path} uses ${pattern}`),
  ]);
  assert.deepEqual(wrong, []);
});

function withoutComments(text: string): string {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
    .replaceAll(/`[^`]*`/g, "``");
}

const GENERATED = new Set(["src/backends/e2b/python-sources.ts"]);

test("files have at most 400 lines", () => {
  const paths = ["src", "adapters", "test", "bench", "scripts"].flatMap((folder) =>
    filesBelow(folder, [".ts", ".tsx", ".mjs", ".py"]),
  );
  const long = paths
    .filter((path) => !GENERATED.has(path))
    .map((path) => [path, readFileSync(join(ROOT, path), "utf8").split("\n").length - 1] as const)
    .filter(([, lines]) => lines > 400);
  assert.deepEqual(long, []);
});

test("nothing is exported by default outside adapters", () => {
  assert.deepEqual(
    sources.filter(({ text }) => /^export default /m.test(text)).map(({ path }) => path),
    [],
  );
});

test("no catch is empty and nothing is any", () => {
  const wrong = [...sources, ...readSources("adapters")].filter(({ text }) =>
    /catch\s*(\([^)]*\))?\s*\{\s*\}|:\s*any\b|\bas any\b/.test(text),
  );
  assert.deepEqual(
    wrong.map(({ path }: Source) => path),
    [],
  );
});
