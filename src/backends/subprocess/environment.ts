import { mkdir, readdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isProgram, type PythonInfo } from "./find-python.ts";
import { askProgram } from "./run-program.ts";

/** The interpreter that kernels run, and where its packages are. */
export type Environment = {
  readonly python: string;
  /** The interpreter itself, that sees none of what is installed into an environment of ours. */
  readonly basePython: string;
  /** Our virtual environment, or the folder of an interpreter that needs none. */
  readonly folder: string;
  readonly version: string;
  readonly hasPip: boolean;
  readonly uv: string | undefined;
  /** Folders that it imports from, in order, and those of them that installations change. */
  readonly importPaths: readonly string[];
  readonly packagePaths: readonly string[];
  /** Why packages cannot be installed; undefined when they can. */
  readonly readOnly: string | undefined;
};

const CREATE_MS = 60_000;

/**
 * The environment to run kernels in. An interpreter that we must not change, or that has no installer, is never run
 * itself but through a virtual environment of ours that sees its packages. It is made before the first kernel, so that
 * every kernel imports at once what is installed later, and in the right order before the system's packages.
 */
export async function prepareEnvironment(
  python: PythonInfo,
  venvDir: string,
  env: Readonly<Record<string, string>>,
  log: (line: string) => void,
): Promise<Environment> {
  const { executable, version, hasPip, uv, importPaths, packagePaths } = python;
  const own = { python: executable, basePython: executable, folder: dirname(dirname(executable)) };
  const bare = { ...own, version, hasPip, uv, importPaths, packagePaths, readOnly: undefined };
  if (!python.externallyManaged && (hasPip || uv !== undefined)) return bare;
  const folder = join(venvDir, `python-${version}-${await shortHash(executable)}`);
  try {
    await mkdir(venvDir, { recursive: true });
    const packages = (await findPackages(folder)) ?? (await createVenv(python, folder, env));
    const paths = { importPaths: [packages, ...importPaths], packagePaths: [packages] };
    return { ...bare, ...paths, folder, python: venvPython(folder) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    log(`No virtual environment for packages could be made in ${folder}: ${message}`);
    return { ...bare, readOnly: "the server's Python may not be changed, and no virtual environment could be made" };
  }
}

async function createVenv(python: PythonInfo, folder: string, env: Readonly<Record<string, string>>): Promise<string> {
  // Without pip it takes a tenth of a second; the pip of the base interpreter serves the environment too.
  const command = ["-I", "-m", "venv", "--system-site-packages", "--without-pip", folder];
  await askProgram([python.executable, ...command], { env, limitMs: CREATE_MS });
  // Another server may have made it at the same time: what counts is that it is there.
  const packages = await findPackages(folder);
  if (packages === undefined) throw new Error(`${python.executable} -m venv failed; is the module venv installed?`);
  if (python.virtual) {
    const parents = python.importPaths.filter((path) => path.endsWith("site-packages"));
    await writeFile(join(packages, "_parent.pth"), `${parents.join("\n")}\n`);
  }
  return packages;
}

/** The folder of packages of a usable virtual environment. */
async function findPackages(folder: string): Promise<string | undefined> {
  if (!(await isProgram(venvPython(folder)))) return undefined;
  for (const name of await namesIn(join(folder, "lib"))) {
    const packages = join(folder, "lib", name, "site-packages");
    if (name.startsWith("python") && (await namesIn(dirname(packages))).includes("site-packages")) return packages;
  }
  return undefined;
}

function venvPython(folder: string): string {
  return join(folder, "bin", "python");
}

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch {
    return []; // Not there or not readable: either way there is nothing to use.
  }
}

async function shortHash(text: string): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
  return Buffer.from(hash.subarray(0, 6)).toString("hex");
}
