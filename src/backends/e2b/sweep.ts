import { createControl, type SandboxMeta } from "./control.ts";
import { type E2bOptions, settingsOf } from "./options.ts";

export type SweepOptions = {
  /** Younger sandboxes are left alone: their session may not have been stored yet. Default 600. */
  readonly graceSeconds?: number;
};

export type SweepReport = {
  readonly seen: number;
  readonly killed: readonly string[];
  readonly failed: readonly string[];
};

/**
 * Ends the sandboxes of this deployment that no session owns: those of failed starts, of lost races, of deleted sessions.
 * @param keep Tells whether a stored session still has this sandbox (see `refOwnsSandbox`).
 * @returns How many were ended; those that could not be are logged and stay for the next sweep.
 * @throws AppError when the sandboxes cannot be listed.
 */
export async function sweepSandboxes(
  options: E2bOptions,
  keep: (meta: SandboxMeta) => boolean | Promise<boolean>,
  { graceSeconds = 600 }: SweepOptions = {},
): Promise<number> {
  const settings = settingsOf(options);
  const control = createControl(settings);
  const found: SandboxMeta[] = [];
  for await (const meta of control.list({})) found.push(meta);
  let ended = 0;
  for (const meta of found) {
    if (settings.now() - meta.startedAt < graceSeconds * 1000 || (await keep(meta))) continue;
    try {
      await control.kill(meta.sandboxId);
      ended += 1;
    } catch (error) {
      settings.log(`A sandbox was not ended by the sweep: ${String(error)}`);
    }
  }
  return ended;
}
