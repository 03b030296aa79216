import { join } from "node:path";
import { cleanEnvironment, ROOT, start, until } from "../../test/helpers/process.ts";
import type { BenchContext } from "./bench.ts";

/** A local stand-in of E2B in a process of its own; ended with the bench. */
export type StandInProcess = {
  readonly apiUrl: string;
  readonly sandboxUrl: string;
  readonly apiKey: string;
  readonly pid: number;
};

export type Sandbox = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
};

type Created = { readonly sandboxID: string; readonly trafficAccessToken: string | null };

export async function startStandIn(context: BenchContext): Promise<StandInProcess> {
  const loader = join(ROOT, "test/node_modules/tsx/dist/loader.mjs");
  const command = [process.execPath, "--import", loader, join(ROOT, "test/e2b/cli.ts"), "--keep-open"] as const;
  const running = await start([...command], { env: cleanEnvironment({ STAND_IN_PYTHON: context.python }) });
  context.defer(async () => {
    running.child.kill("SIGTERM");
    await running.exited;
  });
  const line = await until(
    () => /^\{.*\}$/m.exec(running.stdout())?.[0],
    "the stand-in to say where it serves",
    30_000,
  );
  return { ...(JSON.parse(line) as Omit<StandInProcess, "pid">), pid: running.pid };
}

/** Makes a sandbox by a bare request. @returns What a request for its `/execute` needs. */
export async function bareSandbox({ apiUrl, sandboxUrl, apiKey }: StandInProcess): Promise<Sandbox> {
  const response = await fetch(`${apiUrl}/v2/sandboxes`, {
    method: "POST",
    headers: { "X-API-KEY": apiKey, "content-type": "application/json" },
    body: JSON.stringify({ templateID: "code-interpreter-v1", timeout: 600 }),
  });
  const { sandboxID, trafficAccessToken } = (await response.json()) as Created;
  const token = trafficAccessToken === null ? {} : { "E2B-Traffic-Access-Token": trafficAccessToken };
  const address = { "E2b-Sandbox-Id": sandboxID, "E2b-Sandbox-Port": "49999", ...token };
  return { url: `${sandboxUrl}/execute`, headers: { ...address, "content-type": "application/json" } };
}

/** One bare fetch of `/execute`, read to its end. */
export async function bareExecute({ url, headers }: Sandbox, code: string): Promise<string> {
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ code }) });
  return response.text();
}

/** How many requests reached the stand-in since the last question. */
export async function requestsSince({ apiUrl }: StandInProcess): Promise<number> {
  const log = (await (await fetch(`${apiUrl}/__log`)).json()) as unknown[];
  await fetch(`${apiUrl}/__log`, { method: "DELETE" });
  return log.length;
}
