import { filesBelow, readSource, type Source } from "../quality/sources.ts";

/** Modules that every runtime has for tests. */
const EVERYWHERE = new Set(["node:test", "node:assert/strict"]);

/** The unit tests that need nothing of Node, nor of any other platform: relative to the root. */
export function portableUnits(): string[] {
  return filesBelow("test/unit", [".test.ts"]).filter((path) => needsNoPlatform(path));
}

function needsNoPlatform(path: string): boolean {
  const seen = new Map<string, Source>();
  const visit = (next: string): void => {
    if (seen.has(next)) return;
    const source = readSource(next);
    seen.set(next, source);
    for (const load of source.loads) if (/\.tsx?$/.test(load)) visit(load);
  };
  visit(path);
  const packages = [...seen.values()].flatMap((source) => source.packages);
  return packages.every((name) => !name.startsWith("node:") || EVERYWHERE.has(name));
}
