import type { Connection } from "./control.ts";
import type { E2bSettings } from "./options.ts";

export const INTERPRETER_PORT = 49999;
export const ENVD_PORT = 49983;
export const JUPYTER_PORT = 8888;

/** The address of a port of a sandbox. */
export function urlOf(
  settings: E2bSettings,
  { sandboxId, sandboxDomain }: Connection,
  port: number,
  path: string,
): string {
  const base = settings.sandboxUrl ?? `https://${port}-${sandboxId}.${sandboxDomain ?? settings.domain}`;
  return `${base.replace(/\/+$/, "")}${path}`;
}

/** Routing and rights of a request to a port of a sandbox; JSON is asked for, as the proxy has HTML too. */
export function headersOf(connection: Connection, port: number): Record<string, string> {
  const { sandboxId, envdToken, trafficToken } = connection;
  return {
    Accept: "application/json",
    "E2b-Sandbox-Id": sandboxId,
    "E2b-Sandbox-Port": String(port),
    ...(trafficToken === undefined ? {} : { "E2B-Traffic-Access-Token": trafficToken }),
    ...(envdToken === undefined || port === JUPYTER_PORT ? {} : { "X-Access-Token": envdToken }),
  };
}
