/** Splits bytes into lines, linear in their number; `onLine` gets text without the newline. */
export function lineSplitter(onLine: (line: string) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  return (chunk) => {
    const pieces = decoder.decode(chunk, { stream: true }).split("\n");
    const last = pieces.pop() ?? "";
    for (const piece of pieces) {
      parts.push(piece);
      onLine(parts.join(""));
      parts = [];
    }
    if (last) parts.push(last);
  };
}

/** JSON as Python's `json.dumps` writes it: blanks after separators, all non-ASCII escaped. */
export function pythonJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(pythonJson).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    const pairs = Object.entries(value).filter(([, item]) => item !== undefined);
    return `{${pairs.map(([key, item]) => `${pythonJson(key)}: ${pythonJson(item)}`).join(", ")}}`;
  }
  const text = JSON.stringify(value) ?? "null";
  return text.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
