const CONTEXT = 2;
const MAX_CELLS = 4_000_000;
const MAX_WIDTH = 160;

type Line = { readonly mark: " " | "-" | "+"; readonly text: string };

/** Lengths of the longest common subsequence of the lines' tails. */
function commonTails(before: readonly string[], after: readonly string[]): Uint32Array {
  const width = after.length + 1;
  const lengths = new Uint32Array((before.length + 1) * width);
  for (let i = before.length - 1; i >= 0; i--) {
    for (let j = after.length - 1; j >= 0; j--) {
      const down = lengths[(i + 1) * width + j] ?? 0;
      const right = lengths[i * width + j + 1] ?? 0;
      const both = (lengths[(i + 1) * width + j + 1] ?? 0) + 1;
      lengths[i * width + j] = before[i] === after[j] ? both : Math.max(down, right);
    }
  }
  return lengths;
}

function compare(before: readonly string[], after: readonly string[]): Line[] {
  const removed = (text: string): Line => ({ mark: "-", text });
  const added = (text: string): Line => ({ mark: "+", text });
  if (before.length * after.length > MAX_CELLS) return [...before.map(removed), ...after.map(added)];
  const lengths = commonTails(before, after);
  const width = after.length + 1;
  const lines: Line[] = [];
  let i = 0;
  let j = 0;
  while (i < before.length || j < after.length) {
    const [old, fresh] = [before[i], after[j]];
    const down = lengths[(i + 1) * width + j] ?? 0;
    const right = lengths[i * width + j + 1] ?? 0;
    if (old !== undefined && old === fresh) {
      lines.push({ mark: " ", text: old });
      i++;
      j++;
    } else if (old !== undefined && (fresh === undefined || down >= right)) {
      lines.push(removed(old));
      i++;
    } else {
      lines.push(added(fresh ?? ""));
      j++;
    }
  }
  return lines;
}

/** Cuts a long line to what is around the first difference from its counterpart, when it has one. */
function clip(text: string, other: string | undefined): string {
  if (text.length <= MAX_WIDTH) return text;
  let same = 0;
  while (other !== undefined && same < text.length && text[same] === other[same]) same++;
  const from = same > MAX_WIDTH / 2 && other !== undefined ? same - MAX_WIDTH / 4 : 0;
  const part = text.slice(from, from + MAX_WIDTH - 2);
  return `${from > 0 ? "…" : ""}${part}${from + part.length < text.length ? "…" : ""}`;
}

/** The line that took this one's place, or whose place it took, when the two stand together. */
function counterpart(lines: readonly Line[], index: number): string | undefined {
  const mark = lines[index]?.mark;
  const other = lines[mark === "-" ? index + 1 : index - 1];
  return (mark === "-" && other?.mark === "+") || (mark === "+" && other?.mark === "-") ? other.text : undefined;
}

/** The changed lines with two lines around them, each marked; long lines are cut. Empty when nothing changed. */
export function diffLines(before: string, after: string): string {
  if (before === after) return "";
  const old = before === "" ? [] : before.replace(/\r?\n$/, "").split(/\r?\n/);
  const fresh = after.replace(/\r?\n$/, "").split(/\r?\n/);
  let head = 0;
  while (head < Math.min(old.length, fresh.length) && old[head] === fresh[head]) head++;
  let tail = 0;
  const most = Math.min(old.length, fresh.length) - head;
  while (tail < most && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const context = (text: string): Line => ({ mark: " ", text });
  const lines = [
    ...old.slice(Math.max(0, head - CONTEXT), head).map(context),
    ...compare(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail)),
    ...fresh.slice(fresh.length - tail, fresh.length - tail + CONTEXT).map(context),
  ];
  const near = (index: number) =>
    lines.slice(Math.max(0, index - CONTEXT), index + CONTEXT + 1).some(({ mark }) => mark !== " ");
  const shown = lines.map(({ mark, text }, index) =>
    near(index) ? `${mark} ${clip(text, counterpart(lines, index))}` : undefined,
  );
  return `${shown
    .map((line, index) => line ?? (shown[index - 1] === undefined ? undefined : "  ⋮"))
    .filter((line) => line !== undefined)
    .join("\n")}\n`;
}
