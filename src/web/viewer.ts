import type { Caller } from "../sessions/context.ts";

/** What a page needs to know of the one who looks at it. */
export type Viewer = {
  readonly caller: Caller;
  readonly canRun: boolean;
  /** Goes into every form. */
  readonly csrf: string;
  /** Is there a login that can be ended? */
  readonly loggedIn: boolean;
};
