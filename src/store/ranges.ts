/**
 * The sequence numbers of a session's history: half-open ranges of whole numbers, ascending, not overlapping, such as
 * `[[0,120],[125,300]]`. Finding, adding and removing blocks costs as much as there are gaps, not as there are blocks.
 */
export type Ranges = readonly (readonly [number, number])[];

type HasLive = { readonly live: Ranges };

/** How many blocks the session's history has. */
export function countBlocks({ live }: HasLive): number {
  return countRange(live);
}

/** The sequence numbers of the blocks at the positions `from` to `to`, 0-based and half-open; out of range is clamped. */
export function sequencesOf({ live }: HasLive, from = 0, to = Number.POSITIVE_INFINITY): number[] {
  const sequences: number[] = [];
  for (const [start, end] of sliceRange(live, from, to)) {
    for (let sequence = start; sequence < end; sequence += 1) sequences.push(sequence);
  }
  return sequences;
}

/** How many numbers the ranges hold. */
export function countRange(ranges: Ranges): number {
  let count = 0;
  for (const [start, end] of ranges) count += end - start;
  return count;
}

/** Returns the ranges with `value` added. @throws RangeError unless it is above all the others. */
export function appendRange(ranges: Ranges, value: number): Ranges {
  const last = ranges.at(-1);
  if (last === undefined) return [[value, value + 1]];
  if (value < last[1]) throw new RangeError(`Cannot append ${value} to ranges that end before ${last[1]}`);
  if (value > last[1]) return [...ranges, [value, value + 1]];
  return [...ranges.slice(0, -1), [last[0], value + 1]];
}

/** The ranges of the numbers at the positions `from` to `to`, 0-based and half-open; out of range is clamped. */
export function sliceRange(ranges: Ranges, from: number, to: number): Ranges {
  const kept: [number, number][] = [];
  let position = 0;
  for (const [start, end] of ranges) {
    if (position >= to) break;
    const first = Math.max(start, start + from - position);
    const last = Math.min(end, start + to - position);
    if (first < last) kept.push([first, last]);
    position += end - start;
  }
  return kept;
}

/** Returns the ranges without the numbers at the positions `from` to `to`, 0-based and half-open. */
export function removeRange(ranges: Ranges, from: number, to: number): Ranges {
  if (to <= Math.max(0, from)) return ranges;
  return [...sliceRange(ranges, 0, from), ...sliceRange(ranges, to, Number.POSITIVE_INFINITY)];
}

/** Are these whole numbers, ascending and not overlapping, within `0..limit`? For ranges that come from outside. */
export function areRanges(ranges: Ranges, limit: number): boolean {
  let previous = 0;
  for (const [start, end] of ranges) {
    if (!Number.isSafeInteger(start) || !Number.isSafeInteger(end)) return false;
    if (start < previous || end <= start || end > limit) return false;
    previous = end;
  }
  return true;
}
