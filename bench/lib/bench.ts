/** One line of the table. */
export type Row = {
  readonly what: string;
  /** The least that is possible here, in words, and its number with unit. */
  readonly floor: string;
  readonly ours: string;
  /** Ours in units of the floor; undefined where the budget is a number of its own. */
  readonly ratio?: number;
  readonly budget: string;
  /** Undefined where the row only informs. */
  readonly met?: boolean;
  /** What others needed in the same run, or why they were not measured. */
  readonly peers?: string;
};

export type Bench = {
  readonly name: string;
  /** One sentence: what is measured, against what. */
  readonly about: string;
  run(context: BenchContext): Promise<Row[]>;
};

export type BenchContext = {
  /** The built server and the floor beside it. */
  readonly dist: string;
  /** The interpreter that kernels run, not a launcher. */
  readonly python: string;
  /** A folder of this run's own, removed at its end. */
  readonly folder: string;
  /** The sizes of the budget table, which take minutes, instead of smaller ones. */
  readonly full: boolean;
  /** Others are installed and measured too. */
  readonly withPeers: boolean;
  /** Runs `task` when the bench has ended; the last given runs first. */
  readonly defer: (task: () => unknown) => void;
  readonly note: (text: string) => void;
};

type Limit = { readonly most: number } | { readonly least: number };

/** A row whose budget bounds the ratio. */
export function ratioRow(row: Omit<Row, "budget" | "met"> & { readonly ratio: number }, limit: Limit): Row {
  const met = "most" in limit ? row.ratio <= limit.most : row.ratio >= limit.least;
  return { ...row, budget: "most" in limit ? `≤ ${limit.most}×` : `≥ ${limit.least}×`, met };
}

/** A row whose budget is an amount. */
export function amountRow(row: Omit<Row, "budget" | "met">, amount: number, most: number, unit: string): Row {
  return { ...row, budget: `≤ ${most} ${unit}`, met: amount <= most };
}

export const ms = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(0)} ms`;
export const us = (value: number): string => `${Math.round(value * 1000)} µs`;
export const mb = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MB`;
export const perSecond = (value: number): string => `${Math.round(value)}/s`;
