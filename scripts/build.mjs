// Bundles the Node entry so that it runs without a TypeScript loader; dependencies stay in node_modules.
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

rmSync(`${root}/dist`, { recursive: true, force: true });
await build({
  absWorkingDir: root,
  entryPoints: { cli: "adapters/cli.ts" },
  outdir: "dist",
  bundle: true,
  splitting: true,
  packages: "external",
  platform: "node",
  format: "esm",
  target: "node20.18",
  banner: { js: "#!/usr/bin/env node" },
  logLevel: "warning",
});
mkdirSync(`${root}/dist/worker`, { recursive: true });
for (const name of readdirSync(`${root}/src/worker`)) {
  if (name.endsWith(".py")) cpSync(`${root}/src/worker/${name}`, `${root}/dist/worker/${name}`);
}
