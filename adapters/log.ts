import type { Config } from "../src/config.ts";

export type Log = (event: string, detail?: Readonly<Record<string, unknown>>) => void;

/** One JSON object a line, on stderr; never code, output or tokens. `write` is the runtime's stderr. */
export function createLog(level: Config["REPL_LOG"], write: (line: string) => void): Log {
  if (level === "off") return () => undefined;
  return (event, detail) => write(`${JSON.stringify({ time: new Date().toISOString(), event, ...detail })}\n`);
}
