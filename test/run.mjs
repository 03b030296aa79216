// `npm test`: installs what the tests need, builds, and runs everything with Node's test runner.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const here = join(root, "test");
const venv = join(here, ".venv");
const plain = join(venv, "plain");

function run(command, args, options = {}) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit", ...options });
  if (error) throw error;
  return status ?? 1;
}

function must(step, status) {
  if (status === 0) return;
  console.error(`npm test: ${step} failed`);
  process.exit(1);
}

/** Packages of the test matrix; a stamp of the lockfile tells whether they are current. */
function installPackages() {
  const stamp = join(here, "node_modules/.stamp");
  const lock = readFileSync(join(here, "package-lock.json"), "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  must("npm ci in test", run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: here }));
  writeFileSync(stamp, lock);
}

/**
 * Two Pythons: one with the libraries whose values the tests show, and a plain one, which the tests find first. What a
 * machine's own Python loads at each start can take longer than the start, and there are two thousand in a run.
 * Without an index the tests of libraries are skipped and say so.
 */
function installPython() {
  const stamp = join(venv, ".stamp");
  const requirements = join(here, "requirements.txt");
  const wanted = readFileSync(requirements, "utf8");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  const made = [venv, plain].every(
    (path) => run(process.env.REPL_PYTHON ?? "python3", ["-m", "venv", "--clear", path]) === 0,
  );
  if (!made) return console.error("npm test: no virtual environment; tests of pictures and tables are skipped");
  const pip = ["-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", requirements];
  if (run(join(venv, "bin/python"), pip) === 0) writeFileSync(stamp, wanted);
  else console.error("npm test: no package index; tests of pictures and tables are skipped");
}

function testFiles(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (name === "node_modules" || name === ".venv") return [];
    if (statSync(path).isDirectory()) return testFiles(path);
    return name.endsWith(".test.ts") ? [path] : [];
  });
}

installPackages();
installPython();
must("the build", run("node", ["scripts/build.mjs"]));
const chosen = process.argv.slice(2);
const files = testFiles(here).filter((path) => chosen.length === 0 || chosen.some((part) => path.includes(part)));
const loader = join(here, "node_modules/tsx/dist/loader.mjs");
const failures = join(mkdtempSync(join(tmpdir(), "edge-python-repl-tests-")), "failed");

function runFiles(paths, concurrency) {
  const reporters = [
    `--test-reporter=${process.stdout.isTTY ? "spec" : "tap"}`,
    "--test-reporter-destination=stdout",
    `--test-reporter=${new URL("./failed-files.mjs", import.meta.url)}`,
    `--test-reporter-destination=${failures}`,
  ];
  const limits = [`--test-concurrency=${concurrency}`, "--test-timeout=900000"];
  const PATH = [join(plain, "bin"), process.env.PATH].join(delimiter);
  const env = { ...process.env, PATH };
  const status = run("node", ["--import", loader, "--test", ...limits, ...reporters, ...paths], { env });
  return {
    status,
    failed: readFileSync(failures, "utf8")
      .split("\n")
      .filter((path) => files.includes(path)),
  };
}

// Tests of real processes share two cores with each other: what failed gets one more chance, alone, and says so.
const first = runFiles(files, 4);
let { status } = first;
if (status !== 0 && first.failed.length > 0 && first.failed.length <= 15) {
  console.log(`npm test: runs again, one at a time: ${first.failed.map((path) => relative(here, path)).join(", ")}`);
  status = runFiles(first.failed, 1).status;
}
rmSync(dirname(failures), { recursive: true, force: true });
process.exit(status);
