/** Time of a simulation: it passes only when somebody says so. */
export type Clock = {
  /** Milliseconds since 1970. */
  now(): number;
  /** Jumps to a moment. */
  set(at: number): void;
  /** Lets time pass within an event. */
  pass(ms: number): void;
};

export function createClock(start: number): Clock {
  let at = start;
  return {
    now: () => at,
    set(moment) {
      at = moment;
    },
    pass(ms) {
      at += ms;
    },
  };
}

/** Random numbers from a seed, so that a simulation can be run again. */
export type Random = {
  /** From 0 to 1. */
  next(): number;
  /** Waiting times with this mean, as of events that know nothing of each other. */
  waiting(mean: number): number;
};

export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  return { next, waiting: (mean) => -Math.log(1 - next()) * mean };
}
