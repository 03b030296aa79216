import { type E2bOptions, sweepSandboxes } from "../src/backends/e2b/backend.ts";

/** Ends the sandboxes of this deployment that no session owns. @returns How many. */
export async function sweep(
  options: E2bOptions,
  owns: (owner: string, session: string, epoch: number) => Promise<boolean>,
): Promise<number> {
  return sweepSandboxes(options, ({ owner, session, epoch }) => owns(owner, session, epoch));
}
