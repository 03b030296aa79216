import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

/** Ids that no person and no service of a system has by convention, where the system has that many. */
const WIDE = { first: 0x7000_0000, count: 0x0800_0000 };
/** Where a container has only 65,536. */
const NARROW = { first: 20_000, count: 40_000 };

/** Gives each name an id of a user, so that the system's limits count what belongs to it alone. */
export type Ids = (name: string) => number;

/**
 * For a server that is root; undefined for any other, whose processes keep its id.
 * Two names may get the same id: then they share a limit of processes, and still see nothing of each other.
 * @throws Error when this system has too few ids.
 */
export function createIds(): Ids | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const range = [WIDE, NARROW].find(({ first, count }) => first + count <= availableIds());
  if (!range) throw new Error("The server is root, but its container has too few user ids; run it as another user");
  return (name) => {
    const hash = createHash("sha256").update(name).digest();
    return range.first + (hash.readUInt32BE(0) % range.count);
  };
}

/** How many ids, from 0, this namespace of users has. */
function availableIds(): number {
  const lines = readFileSync("/proc/self/uid_map", "utf8").trim().split("\n");
  const ends = lines.map((line) => {
    const [inside = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
    return inside === 0 ? count : 0;
  });
  return Math.max(0, ...ends);
}
