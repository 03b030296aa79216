import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { parseConfig } from "../../src/config.ts";
import { TOOLS } from "../../src/mcp/registry.ts";
import { ROOT, runToEnd } from "../helpers/process.ts";

type Option = {
  type: string;
  title: string;
  description: string;
  default?: unknown;
  sensitive?: boolean;
  required?: boolean;
};
type Manifest = {
  name: string;
  version: string;
  author: { name: string };
  license: string;
  server: {
    type: string;
    entry_point: string;
    mcp_config: { command: string; args: string[]; env: Record<string, string> };
  };
  tools: { name: string; description: string }[];
  compatibility: { platforms: string[]; runtimes: { node: string } };
  user_config: Record<string, Option>;
};

const root = new URL("../../", import.meta.url);
const MCPB = fileURLToPath(new URL("../node_modules/.bin/mcpb", import.meta.url));
const json = async <T>(name: string) => JSON.parse(await readFile(new URL(name, root), "utf8")) as T;
const manifest = await json<Manifest>("manifest.json");
const npm = await json<{
  name: string;
  version: string;
  license: string;
  bin: Record<string, string>;
  engines: { node: string };
}>("package.json");

/** What an MCPB host makes of the manifest's variables: defaults first, then what the person entered. */
function environment(entered: Readonly<Record<string, string>>): Record<string, string> {
  const values = Object.entries(manifest.user_config).map(
    ([key, option]) => [key, entered[key] ?? option.default] as const,
  );
  return Object.fromEntries(
    Object.entries(manifest.server.mcp_config.env).map(([name, text]) => [
      name,
      values.reduce(
        (result, [key, value]) =>
          value === undefined ? result : result.replaceAll(`\${user_config.${key}}`, String(value)),
        text,
      ),
    ]),
  );
}

describe("manifest.json, for MCP bundles", () => {
  it("is one that hosts accept, by the program that makes bundles", async () => {
    const { code, stdout, stderr } = await runToEnd([process.execPath, MCPB, "validate", `${ROOT}/manifest.json`]);
    assert.equal(code, 0, stdout + stderr);
  });

  it("is of this package: name, version, licence, Node and entry point", () => {
    const entry = npm.bin[npm.name];
    assert.deepEqual(
      [manifest.name, manifest.version, manifest.license, manifest.compatibility.runtimes.node],
      [npm.name, npm.version, npm.license, npm.engines.node],
    );
    assert.equal(manifest.server.entry_point, entry);
    assert.deepEqual(manifest.server.mcp_config.args, [`\${__dirname}/${entry}`]);
  });

  it("lists tools that the server has", () => {
    const names = TOOLS.map((tool) => tool.name);
    assert.deepEqual(
      manifest.tools.map(({ name }) => name).filter((name) => !names.includes(name)),
      [],
    );
    for (const { description } of manifest.tools) assert.ok(description.length > 0);
  });

  it("gives every option a default, because a host leaves unset ones in the text", () => {
    for (const [name, text] of Object.entries(environment({}))) assert.doesNotMatch(text, /user_config/, name);
  });

  it("makes settings that the server accepts, filled in or not", () => {
    assert.equal(parseConfig(environment({})).MCP_TRANSPORT, "stdio");
    assert.equal(parseConfig(environment({})).REPL_PYTHON, undefined);
    const filled = parseConfig(
      environment({ python: "/usr/bin/python3", folder: "/tmp", backend: "e2b", e2b_api_key: "some-key" }),
    );
    assert.deepEqual([filled.REPL_PYTHON, filled.REPL_CWD, filled.REPL_BACKEND], ["/usr/bin/python3", "/tmp", "e2b"]);
  });

  it("keeps keys hidden while they are typed", () => {
    assert.equal(manifest.user_config.e2b_api_key?.sensitive, true);
  });
});
