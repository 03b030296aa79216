import type { Config } from "../src/config.ts";

export type Log = (event: string, detail?: Readonly<Record<string, unknown>>) => void;

const DEBUG =
  "REPL_LOG=debug: THIS LOG HOLDS THE CODE THAT CALLERS RUN, with whatever secrets stand in it; use it to find a fault only";

/**
 * One JSON object a line, on stderr; never output or tokens, and code only at the level `debug`, which says so at once.
 * @param write The runtime's stderr.
 */
export function createLog(level: Config["REPL_LOG"], write: (line: string) => void): Log {
  if (level === "off") return () => undefined;
  const log: Log = (event, detail) =>
    write(`${JSON.stringify({ time: new Date().toISOString(), event, ...detail })}\n`);
  if (level === "debug") log("warning", { message: DEBUG });
  return log;
}
