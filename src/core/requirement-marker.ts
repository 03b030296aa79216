/** The grammar of PEP 508 environment markers, as far as telling where one ends. */

const BLANK = /\s*/y;
const VARIABLE =
  /(?:python_version|python_full_version|os_name|sys_platform|platform_release|platform_system|platform_version|platform_machine|platform_python_implementation|implementation_name|implementation_version|extra)\b/y;
const QUOTED = /"[A-Za-z0-9 _.*+!()<>=~,-]*"|'[A-Za-z0-9 _.*+!()<>=~,-]*'/y;
const COMPARISON = /===|==|~=|!=|<=|>=|<|>|in\b|not\s+in\b/y;
const JOINT = /(?:and|or)\b/y;
/** Deeper nesting than any real marker; bounds the recursion. */
const MAX_DEPTH = 20;

/** Returns the index after the marker that begins at `start`, or undefined when there is none. */
export function skipMarker(text: string, start: number, depth = 0): number | undefined {
  let at = skipTerm(text, start, depth);
  while (at !== undefined) {
    const joint = skip(text, skip(text, at, BLANK) ?? at, JOINT);
    if (joint === undefined) return at;
    at = skipTerm(text, joint, depth);
  }
  return undefined;
}

function skipTerm(text: string, start: number, depth: number): number | undefined {
  const at = skip(text, start, BLANK) ?? start;
  if (text[at] !== "(") return skipComparison(text, at);
  if (depth >= MAX_DEPTH) return undefined;
  const inner = skipMarker(text, at + 1, depth + 1);
  const end = inner === undefined ? undefined : skip(text, inner, BLANK);
  return end !== undefined && text[end] === ")" ? end + 1 : undefined;
}

function skipComparison(text: string, start: number): number | undefined {
  let at: number | undefined = start;
  for (const part of [[VARIABLE, QUOTED], [COMPARISON], [VARIABLE, QUOTED]]) {
    const from: number = skip(text, at, BLANK) ?? at;
    at = part.map((pattern) => skip(text, from, pattern)).find((end) => end !== undefined);
    if (at === undefined) return undefined;
  }
  return at;
}

function skip(text: string, at: number, pattern: RegExp): number | undefined {
  pattern.lastIndex = at;
  const match = pattern.exec(text);
  return match ? at + match[0].length : undefined;
}
