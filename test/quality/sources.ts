import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export type Source = {
  /** Relative to the root, with slashes. */
  readonly path: string;
  readonly text: string;
  /** Files of ours it imports, relative to the root; type imports too. */
  readonly imports: readonly string[];
  /** Files of ours it needs at run time. */
  readonly loads: readonly string[];
  /** Packages and built-in modules it imports. */
  readonly packages: readonly string[];
};

const IGNORED = new Set(["node_modules", "dist", ".git", ".venv", "__pycache__", ".wrangler"]);

export function filesBelow(folder: string, suffixes: readonly string[]): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return IGNORED.has(entry.name) ? [] : filesBelow(path, suffixes);
    return suffixes.some((suffix) => entry.name.endsWith(suffix)) ? [path] : [];
  });
}

const IMPORT = /^\s*(?:import|export)\s+(type\s+)?([^;"']*?from\s+)?["']([^"']+)["']|\bimport\(\s*["']([^"']+)["']/gm;

export function readSource(path: string): Source {
  const text = readFileSync(join(ROOT, path), "utf8");
  const found = [...text.matchAll(IMPORT)].map(([, type, names = "", from, lazy]) => ({
    specifier: from ?? lazy ?? "",
    typeOnly: type !== undefined || onlyTypes(names),
  }));
  const own = found.filter(({ specifier }) => specifier.startsWith("."));
  const target = (specifier: string): string => relative(ROOT, resolve(ROOT, dirname(path), specifier));
  return {
    path,
    text,
    imports: own.map(({ specifier }) => target(specifier)),
    loads: own.filter(({ typeOnly }) => !typeOnly).map(({ specifier }) => target(specifier)),
    packages: found.filter(({ specifier }) => !specifier.startsWith(".")).map(({ specifier }) => specifier),
  };
}

/** `{ type A, type B } from` loads nothing. */
function onlyTypes(names: string): boolean {
  const listed = /^\{([^}]*)\}\s*from\s+$/.exec(names.trim().concat(" "))?.[1] ?? /\{([^}]*)\}/.exec(names)?.[1];
  if (listed === undefined) return false;
  const items = listed.split(",").map((item) => item.trim());
  return items.filter((item) => item !== "").every((item) => item.startsWith("type "));
}

export function readSources(folder: string): Source[] {
  return filesBelow(folder, [".ts", ".tsx"]).map(readSource);
}
