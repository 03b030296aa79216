import { type Ranges, removeRange } from "../store/ranges.ts";

/** How many numbers of the ranges are below `value`: the position of `value` when it is among them. */
export function countBelow(ranges: Ranges, value: number): number {
  let count = 0;
  for (const [start, end] of ranges) {
    if (start >= value) break;
    count += Math.min(end, value) - start;
  }
  return count;
}

/** Without the numbers from `first` to `last`, both included; those that are gone already do not matter. */
export function withoutSequences(ranges: Ranges, first: number, last: number): Ranges {
  return removeRange(ranges, countBelow(ranges, first), countBelow(ranges, last + 1));
}
