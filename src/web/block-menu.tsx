/** @jsxImportSource hono/jsx */
import type { Block } from "../core/session.ts";

export type BlockMenu = {
  readonly number: number;
  readonly block: Block;
  /** Paths of the session and of the block. */
  readonly session: string;
  readonly address: string;
  readonly canRun: boolean;
};

/** The form of the page that buttons of all blocks belong to; it brings the proof that the page sent it. */
export const ACTIONS_FORM = "actions";

/** @returns What can be done with a block, folded. Buttons post the page's own form, so that they need no script. */
export function blockMenu({ number, block, session, address, canRun }: BlockMenu): string {
  const running = block.status === "running";
  const change = canRun && !running;
  const stop = canRun && running ? <Action to={`${session}/interrupt`}>Interrupt</Action> : "";
  return String(
    <>
      {stop}
      <details class="menu">
        <summary aria-label={`Actions for block ${number}`}>⋯</summary>
        <div>
          {change && <Action to={`${address}/run-again`}>Run again as new block</Action>}
          {change && <Action to={`${address}/rerun`}>Rerun everything up to here</Action>}
          <a href={`${address}/output`}>Whole output as text</a>
          {change && (
            <Action to={`${address}/delete`} danger confirm={`Delete block ${number}?`}>
              Delete block
            </Action>
          )}
        </div>
      </details>
    </>,
  );
}

type ActionProps = {
  /** Path that the button posts to. */
  readonly to: string;
  readonly danger?: boolean;
  /** Asked before, where scripts run. */
  readonly confirm?: string;
  readonly children?: string;
};

export function Action({ to, danger, confirm, children }: ActionProps) {
  return (
    <button
      type="submit"
      form={ACTIONS_FORM}
      formaction={to}
      class={danger ? "danger" : undefined}
      data-confirm={confirm}
    >
      {children}
    </button>
  );
}
