/** Resolves `start`/`end` as Python's `slice(start, end).indices(length)`: half-open, negatives from the end, clamped. */
export function sliceIndices(length: number, start?: number | null, end?: number | null): [number, number] {
  const clamp = (index: number): number => Math.min(length, Math.max(0, index < 0 ? index + length : index));
  const from = clamp(start ?? 0);
  return [from, Math.max(from, clamp(end ?? length))];
}
