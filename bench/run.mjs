// `npm run bench [-- NAME …]`: installs what the tests need, builds the server apart from `dist`, and measures.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { buildServers } from "./lib/build.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const loader = `${root}/test/node_modules/tsx/dist/loader.mjs`;

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) throw error;
  return status ?? 1;
}

if (!existsSync(loader) && run("npm", ["ci", "--prefix", "test", "--ignore-scripts"]) !== 0) {
  console.error("npm run bench: the packages of test/ could not be installed");
  process.exit(1);
}
process.env.BENCH_DIST = await buildServers();
process.exit(run(process.execPath, ["--expose-gc", "--import", loader, "bench/main.ts", ...process.argv.slice(2)]));
