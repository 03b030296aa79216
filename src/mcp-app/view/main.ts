import { renderBlockHtml } from "../../render/html/block.ts";
import { textHtml } from "../../render/html/escape.ts";
import { VERSION } from "../../version.ts";
import { connect } from "./bridge.ts";
import { blockOf, type Facts, picturesOf, type Reply, runningBlock, textOf } from "./reply.ts";

/** Shows the block of one tool call inside a chat, as the notebook page shows it. */

type Arguments = { readonly code?: unknown; readonly path?: unknown };

let code = "";
let done = false;

function show(html: string): void {
  document.body.innerHTML = `<main>${html}</main>`;
}

function showRunning(): void {
  if (done) return;
  show(renderBlockHtml({ number: 0, block: runningBlock(code) }));
  const number = document.querySelector(".number");
  if (number) number.textContent = "[*]";
}

function showReply(reply: Reply): void {
  done = true;
  const { structuredContent: facts } = reply;
  if (facts?.blocks) showRerun(reply, facts.blocks, facts.not_run ?? 0);
  else if (facts?.message !== undefined) show(`<p class="refused">${textHtml(facts.message)}</p>`);
  else if (facts?.index !== undefined && facts.stdout !== undefined) show(blockHtml(facts, code, picturesOf(reply)));
  // Without the facts there is the text that hosts without views show.
  else show(textBlock(reply));
}

function blockHtml(facts: Facts, source: string, pictures: Record<string, string>[]): string {
  return renderBlockHtml({ number: (facts.index ?? 0) + 1, block: blockOf(facts, source, pictures) });
}

function textBlock(reply: Reply): string {
  const pictures = picturesOf(reply).map((data) => ({ type: "display_data" as const, data }));
  const printed = { type: "stream" as const, name: "stdout" as const, text: textOf(reply) };
  const block = { ...blockOf({}, "", []), outputs: [printed, ...pictures] };
  return `<div class="plain">${renderBlockHtml({ number: 1, block })}</div>`;
}

function showRerun(reply: Reply, blocks: readonly Facts[], notRun: number): void {
  const pictures = picturesOf(reply);
  const parts = blocks.map((facts) => {
    const own = pictures.splice(0, facts.pictures ?? 0);
    return (
      blockHtml(facts, "", own) +
      (facts.same_output === false ? '<p class="changed">Output differs from before</p>' : "")
    );
  });
  const rest =
    notRun > 0 ? `<p class="changed">${notRun === 1 ? "1 block was" : `${notRun} blocks were`} not run</p>` : "";
  show(parts.join("") + rest);
}

/** What the call runs, as far as its arguments tell. */
function codeOf(args: Arguments | undefined): string {
  if (typeof args?.code === "string") return args.code;
  return typeof args?.path === "string" ? `exec(${JSON.stringify(args.path)})` : "";
}

connect(VERSION, {
  context({ theme }) {
    if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  },
  notified(name, params) {
    if (name === "tool-input" || name === "tool-input-partial") {
      code = codeOf(params.arguments as Arguments | undefined);
      showRunning();
    } else if (name === "tool-result") showReply(params as Reply);
    else if (name === "tool-cancelled" && !done) {
      show(renderBlockHtml({ number: 0, block: { ...runningBlock(code), status: "cancelled" } }));
    }
  },
});
