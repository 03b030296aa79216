/** The value below which the share `q` of the samples lies. */
export function quantile(samples: readonly number[], q: number): number {
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5);
}

/** Milliseconds that `task` takes. */
export async function timed(task: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await task();
  return performance.now() - started;
}

/** `count` times of a task, one after the other. */
export async function times(count: number, task: () => Promise<unknown>): Promise<number[]> {
  const samples: number[] = [];
  for (let index = 0; index < count; index += 1) samples.push(await timed(task));
  return samples;
}

/**
 * Measures the contestants in turn, `rounds` times, so that what else the machine does meets all of them alike.
 * @returns The numbers of each contestant, one a round.
 */
export async function interleave<Name extends string>(
  rounds: number,
  contestants: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contestants) as Name[];
  const numbers = Object.fromEntries(names.map((name) => [name, [] as number[]])) as Record<Name, number[]>;
  for (let round = 0; round < rounds; round += 1) {
    // Each round begins with another one: who comes after whom makes a difference too.
    for (const [position] of names.entries()) {
      const name = names[(position + round) % names.length] as Name;
      numbers[name].push(await contestants[name]());
    }
  }
  return numbers;
}

/** The median over rounds of what `ours` is in units of `floor`. */
export function ratioOf(ours: readonly number[], floor: readonly number[]): number {
  return median(ours.map((value, round) => value / (floor[round] ?? Number.NaN)));
}
