/** One row of the threat model. */
export type Threat = {
  /** Who, and what they can try. */
  readonly who: Who;
  readonly attempt: string;
  /** What stops it. */
  readonly guard: string;
  readonly file: string;
  /** Text of that file, found once, and what a tree without the guard has in its place. */
  readonly remove: readonly [string, string];
  readonly test: string;
  /** Part of the test's name. */
  readonly name: string;
};

type Who = "stranger" | "web page" | "owner" | "reader" | "code" | "confined code" | "store editor" | "output";
