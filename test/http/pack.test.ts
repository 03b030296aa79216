import assert from "node:assert/strict";
import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { cleanEnvironment, ROOT, runToEnd } from "../helpers/process.ts";
import { assertText } from "./check.ts";
import { V1_LEGS } from "./client-v1.ts";
import { connect, createSession, temporaryFolder } from "./processes.ts";

/** Downloads of what the package depends on are among it. */
const LIMIT_MS = 55_000;
const MAX_BYTES = 1024 * 1024;

type Packed = {
  readonly filename: string;
  readonly size: number;
  readonly files: readonly { readonly path: string }[];
};

/** Packs what was built; the scripts would build again, under the feet of other tests. */
async function pack(folder: string): Promise<Packed> {
  const command = ["npm", "pack", "--ignore-scripts", "--json", "--pack-destination", folder] as const;
  const { code, stdout, stderr } = await runToEnd([...command], { cwd: ROOT });
  assert.equal(code, 0, stderr);
  const [packed] = JSON.parse(stdout) as Packed[];
  assert.ok(packed);
  return packed;
}

test("the packed package holds what it needs and nothing else", async (context) => {
  const { files, size } = await pack(await temporaryFolder(context));
  const paths = files.map(({ path }) => path);
  for (const path of [
    "package.json",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "SECURITY.md",
    "dist/cli.js",
    "dist/worker/main.py",
  ]) {
    assert.ok(paths.includes(path), `${path} is in the package`);
  }
  const other = paths.filter(
    (path) => path.includes("/") && !/^dist\/[\w-]+\.js$|^dist\/(worker|runner)\/\w+\.py$/.test(path),
  );
  assert.deepEqual(other, [], "Only the bundle and the Python files of the worker are in folders");
  assert.ok(size < MAX_BYTES, `The package has ${size} bytes`);
});

test("its bin serves MCP after an installation in an empty folder", { timeout: LIMIT_MS }, async (context) => {
  const folder = await temporaryFolder(context);
  const { filename } = await pack(folder);
  const home = join(folder, "home");
  await mkdir(home);
  const install = ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline", join(folder, filename)] as const;
  const installed = await runToEnd([...install], { cwd: home, limitMs: LIMIT_MS });
  assert.equal(installed.code, 0, installed.stderr);

  const bin = join(home, "node_modules/.bin/edge-python-repl");
  const version = await runToEnd([bin, "--version"], { cwd: home });
  assert.match(version.stdout, /^\d+\.\d+\.\d+\n$/, version.stderr);
  assert.ok(!(await readdir(join(home, "node_modules"))).includes("typescript"), "No compiler comes along");

  const [, , stdio] = V1_LEGS;
  const env = cleanEnvironment({ REPL_STORAGE: "memory", REPL_LOG: "off" });
  const client = await connect(context, { command: [bin], env }, stdio);
  const session = await createSession(client, "s");
  assertText(await session.run("6 * 7"), "[1] 6 * 7\n42");
});
