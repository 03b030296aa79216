import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { SETTING_NAMES } from "../../src/config.ts";
import { registryProblems } from "./registry-entry.ts";

type Variable = { name: string; default?: string; isSecret?: boolean; choices?: string[] };
type Package = { identifier: string; version: string; environmentVariables: Variable[] };
type ServerJson = { name: string; version: string; description: string; packages: Package[] };

const root = new URL("../../", import.meta.url);
const json = async (name: string) => JSON.parse(await readFile(new URL(name, root), "utf8")) as unknown;
const server = (await json("server.json")) as ServerJson;
const npm = (await json("package.json")) as { name: string; version: string; mcpName?: string };

describe("server.json, for the MCP registry", () => {
  it("follows the schema and the registry's rules", () => {
    assert.deepEqual(registryProblems(server), []);
  });

  it("is of the package and its version", () => {
    const [entry] = server.packages;
    assert.deepEqual([server.version, entry?.version, entry?.identifier], [npm.version, npm.version, npm.name]);
  });

  it("has the name that the package claims, by which the registry knows its owner", () => {
    assert.equal(npm.mcpName ?? server.name, server.name);
  });

  it("names settings that exist, and marks keys as secret", () => {
    for (const { name, isSecret } of server.packages.flatMap((entry) => entry.environmentVariables)) {
      assert.ok(SETTING_NAMES.includes(name), name);
      assert.equal(isSecret ?? false, /KEY|SECRET|TOKEN/.test(name), name);
    }
  });
});

describe("the check of server.json", () => {
  type Draft = Record<string, unknown> & { packages: Record<string, unknown>[] };
  const broken: readonly [what: string, spoil: (draft: Draft) => void, problem: RegExp][] = [
    ["a name without a namespace", (draft) => Object.assign(draft, { name: "repl" }), /server.name does not match/],
    [
      "two slashes in the name",
      (draft) => Object.assign(draft, { name: "io.github.a/b/c" }),
      /server.name does not match/,
    ],
    [
      "a description of 101 characters",
      (draft) => Object.assign(draft, { description: "x".repeat(101) }),
      /longer than 100/,
    ],
    ["no version", (draft) => delete draft.version, /server.version is missing/],
    ["a range as version", (draft) => Object.assign(draft, { version: "^1.0.0" }), /one exact version/],
    [
      "latest as the package's version",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { version: "latest" }),
      /one exact version/,
    ],
    [
      "another npm registry",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { registryBaseUrl: "https://npm.example.com" }),
      /registryBaseUrl/,
    ],
    [
      "snake_case keys of old schemas",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { runtime_hint: "npx" }),
      /runtime_hint is not known/,
    ],
    [
      "an unknown transport",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { transport: { type: "ws" } }),
      /transport.type must be one of/,
    ],
    [
      "HTTP without a URL",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { transport: { type: "sse" } }),
      /transport.url is missing/,
    ],
    [
      "a variable without a name",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { environmentVariables: [{}] }),
      /\[0\].name is missing/,
    ],
    [
      "a format that is none",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { environmentVariables: [{ name: "A", format: "path" }] }),
      /format must be one of/,
    ],
    [
      "a positional argument without a value",
      ({ packages: [entry] }) => Object.assign(entry ?? {}, { packageArguments: [{ type: "positional" }] }),
      /needs value or valueHint/,
    ],
    [
      "a repository without a source",
      (draft) => Object.assign(draft, { repository: { url: "https://example.com" } }),
      /repository.source is missing/,
    ],
  ];
  for (const [what, spoil, problem] of broken) {
    it(`refuses ${what}`, () => {
      const draft = structuredClone(server) as unknown as Draft;
      spoil(draft);
      assert.match(registryProblems(draft).join("\n"), problem);
    });
  }
});
