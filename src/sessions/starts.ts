/** Runs a task for an owner, in order of arrival. */
export type Starts = <T>(owner: string, task: () => Promise<T>) => Promise<T>;

type Line = { running: number; readonly waiting: (() => void)[] };

/**
 * Lets `atOnce` tasks of one owner run at a time, so that whoever starts many interpreters does not take the machine from
 * the others. Absent: all at once.
 */
export function createStarts(atOnce: number | undefined): Starts {
  if (atOnce === undefined) return (_owner, task) => task();
  const lines = new Map<string, Line>();
  return async (owner, task) => {
    const line = lines.get(owner) ?? { running: 0, waiting: [] };
    lines.set(owner, line);
    if (line.running >= atOnce) await new Promise<void>((resolve) => line.waiting.push(resolve));
    else line.running += 1;
    try {
      return await task();
    } finally {
      const next = line.waiting.shift();
      // The place goes straight to the next one.
      if (next) next();
      else line.running -= 1;
      if (line.running === 0) lines.delete(owner);
    }
  };
}
