import { access, constants, stat } from "node:fs/promises";
import { delimiter, isAbsolute, join, resolve } from "node:path";
import { askProgram } from "./run-program.ts";

export type PythonInfo = {
  /** The interpreter itself, not a launcher that looks for one on each start. */
  readonly executable: string;
  /** Such as `3.11.7`. */
  readonly version: string;
  /** Its packages are not ours to change: it is marked as externally managed, or its folder is read-only. */
  readonly externallyManaged: boolean;
  /** It is itself a virtual environment, whose packages another one would not see. */
  readonly virtual: boolean;
  readonly hasPip: boolean;
  readonly uv: string | undefined;
  /** Folders that it imports from, in order, and those that installations change. */
  readonly importPaths: readonly string[];
  readonly packagePaths: readonly string[];
};

const OLDEST_MINOR = 9;
const PROBE_MS = 20_000;
const ADVICE = `install Python 3.${OLDEST_MINOR} or newer, or set REPL_PYTHON to the path of one`;
const MARK = "edge-repl-probe:";

/** Runs before the current folder can stand in for a module; what a site hook prints goes before the mark. */
const PROBE = `
import sys
if sys.path and sys.path[0] == "":
    del sys.path[0]
import json, os
facts = {"version": ".".join(map(str, sys.version_info[:3])), "executable": sys.executable}
if sys.version_info >= (3, ${OLDEST_MINOR}):
    import importlib.util, sysconfig
    facts["virtual"] = sys.prefix != sys.base_prefix
    facts["marked"] = os.path.exists(os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED"))
    facts["writable"] = os.access(sysconfig.get_path("purelib"), os.W_OK)
    facts["pip"] = importlib.util.find_spec("pip") is not None
    facts["packages"] = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    facts["paths"] = [path for path in sys.path if os.path.isdir(path)]
print("${MARK}" + json.dumps(facts))
`;

type Facts = {
  readonly version: string;
  readonly executable: string;
  readonly virtual: boolean;
  readonly marked: boolean;
  readonly writable: boolean;
  readonly pip: boolean;
  readonly packages: readonly string[];
  readonly paths: readonly string[];
};

/**
 * Finds the Python to run: `REPL_PYTHON` of `env`, else `python3` or `python` on its PATH.
 * @throws Error, one sentence that says what to install or set, when there is none or all are too old.
 */
export async function findPython(env: Readonly<Record<string, string | undefined>>): Promise<PythonInfo> {
  const wanted = env.REPL_PYTHON;
  const problems: string[] = [];
  for (const name of wanted ? [wanted] : ["python3", "python"]) {
    const program = await findProgram(name, env);
    if (program === undefined) continue;
    const facts = await probe(program, env);
    if (facts && isRecent(facts.version)) return toInfo(facts, await findProgram("uv", env));
    problems.push(facts ? `${program} is Python ${facts.version}` : `${program} does not run as Python`);
  }
  if (wanted && problems.length === 0) throw new Error(`REPL_PYTHON is ${wanted}, which is no program; ${ADVICE}`);
  throw new Error(`${problems.join(" and ") || "No python3 or python was found on PATH"}; ${ADVICE}`);
}

function toInfo(facts: Facts, uv: string | undefined): PythonInfo {
  return {
    executable: facts.executable,
    version: facts.version,
    externallyManaged: (facts.marked && !facts.virtual) || !facts.writable,
    virtual: facts.virtual,
    hasPip: facts.pip,
    uv,
    importPaths: facts.paths,
    packagePaths: facts.packages,
  };
}

async function probe(program: string, env: Readonly<Record<string, string | undefined>>): Promise<Facts | undefined> {
  const given = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const output = await askProgram([program, "-X", "utf8", "-c", PROBE], {
    env: { ...Object.fromEntries(given), PYTHONINSPECT: "" },
    limitMs: PROBE_MS,
  });
  const at = output?.lastIndexOf(MARK) ?? -1;
  if (output === undefined || at < 0) return undefined;
  const [line = ""] = output.slice(at + MARK.length).split("\n");
  return JSON.parse(line) as Facts;
}

function isRecent(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 3 || (major === 3 && minor >= OLDEST_MINOR);
}

/** The path of an executable file: as given when it has a slash, else the first on PATH. */
async function findProgram(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  if (name.includes("/")) return (await isProgram(name)) ? resolve(name) : undefined;
  for (const folder of (env.PATH ?? "").split(delimiter).filter(isAbsolute)) {
    if (await isProgram(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

export async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false; // Whatever the reason, it cannot be run.
  }
}
