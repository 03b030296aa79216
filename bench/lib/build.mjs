import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** Ignored by git, and packages are found from there. */
const FOLDER = `${root}/node_modules/.cache/edge-python-repl-bench/dist`;

/** Builds the server as `npm run build` does, and beside it what it is measured with. @returns The folder. */
export async function buildServers(folder = FOLDER) {
  rmSync(folder, { recursive: true, force: true });
  await build({
    absWorkingDir: root,
    entryPoints: {
      abuser: "bench/programs/abuser.ts",
      cli: "adapters/cli.ts",
      floor: "bench/floors/sdk.ts",
      history: "bench/programs/history.ts",
      owners: "bench/programs/owners.ts",
      scale: "bench/programs/scale.ts",
    },
    outdir: folder,
    bundle: true,
    splitting: true,
    packages: "external",
    platform: "node",
    format: "esm",
    target: "node20.18",
    logLevel: "warning",
  });
  mkdirSync(`${folder}/worker`, { recursive: true });
  for (const name of readdirSync(`${root}/src/worker`)) {
    if (name.endsWith(".py")) cpSync(`${root}/src/worker/${name}`, `${folder}/worker/${name}`);
  }
  return folder;
}
