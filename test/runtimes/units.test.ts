import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import { build } from "esbuild";
import { ROOT, runToEnd } from "../helpers/process.ts";
import type { UnitReport } from "./node-test.ts";
import { missing, runtimeOf, type ServerRuntime } from "./runtimes.ts";
import { portableUnits } from "./units.ts";
import { startWorkerd } from "./workerd.ts";

/** Unit tests that need no platform run on all of them; how many there are this Node has told already. */

const files = portableUnits();
const LIMIT_MS = 58_000;
const loader = ["--import", join(ROOT, "test/node_modules/tsx/dist/loader.mjs")];

/** How a runtime runs files as tests, and how it says what came of them. */
const RUNNERS: readonly { readonly name: ServerRuntime["name"]; readonly args: string[]; readonly passed: RegExp }[] = [
  { name: "node22", args: [...loader, "--test", "--experimental-test-isolation=none"], passed: /^# pass (\d+)$/m },
  {
    name: "node24",
    args: [...loader, "--test", "--test-isolation=none", "--test-reporter=tap"],
    passed: /^# pass (\d+)$/m,
  },
  {
    name: "deno",
    args: ["test", "--allow-all", "--no-check", "--no-prompt"],
    passed: /^ok \| \d+ passed \((\d+) steps\)/m,
  },
  { name: "bun", args: ["test"], passed: /^ (\d+) pass$/m },
];

const MOST = 300;

describe("unit tests that need no platform", () => {
  for (const { name, args, passed } of RUNNERS) {
    const runtime = runtimeOf(name);
    test(name, { skip: missing(runtime), timeout: 60_000 }, async (context) => {
      const [program] = runtime.http;
      const command = [program, ...args, ...files.map((path) => `./${path}`)] as const;
      const { code, stdout, stderr } = await runToEnd([...command], {
        cwd: ROOT,
        limitMs: LIMIT_MS,
        env: { NO_COLOR: "1" },
      });
      assert.equal(code, 0, stdout + stderr);
      const count = Number(passed.exec(stdout + stderr)?.[1]);
      context.diagnostic(`${count} passed`);
      assert.ok(count > MOST, `Only ${count} passed: ${stdout}${stderr}`);
    });
  }

  test("workerd", { timeout: 60_000 }, async (context) => {
    const worker = await startWorkerd({ env: {}, withoutObjects: true, module: await bundleUnits() });
    context.after(() => worker.stop());
    const report = (await (await fetch(worker.url)).json()) as UnitReport;
    context.diagnostic(`${report.passed} passed`);
    assert.deepEqual(report.failed, []);
    assert.ok(report.passed > MOST);
  });
});

/** All of them as one Worker, in which `node:test` is ours. */
async function bundleUnits(): Promise<string> {
  const runner = join(ROOT, "test/runtimes/node-test.ts");
  const contents = [
    ...files.map((path) => `import "./${path}";`),
    `export { default } from ${JSON.stringify(runner)};`,
  ];
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: { contents: contents.join("\n"), resolveDir: ROOT, loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:assert/strict"],
    alias: { "node:test": runner },
    logLevel: "error",
  });
  return outputFiles[0]?.text ?? "";
}
