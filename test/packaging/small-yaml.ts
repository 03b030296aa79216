/** YAML as compose.yaml uses it: maps by indentation, lists of plain items, quoted text and one-line JSON lists. */
export type Yaml = string | number | null | readonly Yaml[] | { readonly [key: string]: Yaml };

type Line = { readonly indent: number; readonly text: string; readonly number: number };

function linesOf(source: string): Line[] {
  return source.split("\n").flatMap((raw, index) => {
    const text = raw.replace(/(^|\s)#.*$/, "").trimEnd();
    if (text.trim() === "") return [];
    if (text.includes("\t")) throw new Error(`Line ${index + 1} has a tab`);
    return [{ indent: text.length - text.trimStart().length, text: text.trim(), number: index + 1 }];
  });
}

function scalar(text: string): Yaml {
  if (/^["[]/.test(text)) return JSON.parse(text) as Yaml;
  return /^\d+$/.test(text) ? Number(text) : text;
}

function block(lines: Line[], indent: number): Yaml {
  if (lines[0]?.text.startsWith("- ")) {
    const items: Yaml[] = [];
    while (lines[0]?.indent === indent && lines[0].text.startsWith("- "))
      items.push(scalar((lines.shift()?.text ?? "").slice(2)));
    return items;
  }
  const map: Record<string, Yaml> = {};
  while (lines[0]?.indent === indent) {
    const line = lines.shift();
    const [, key, rest] = /^([\w-]+):(?: (.+))?$/.exec(line?.text ?? "") ?? [];
    if (key === undefined || key in map) throw new Error(`Line ${line?.number} is no new key: ${line?.text}`);
    const inner = lines[0];
    map[key] = rest !== undefined ? scalar(rest) : inner && inner.indent > indent ? block(lines, inner.indent) : null;
  }
  return map;
}

/** @throws Error that names the line which is not understood. */
export function parseYaml(source: string): Yaml {
  const lines = linesOf(source);
  const value = block(lines, 0);
  if (lines[0] !== undefined) throw new Error(`Line ${lines[0].number} is indented unlike its neighbours`);
  return value;
}
