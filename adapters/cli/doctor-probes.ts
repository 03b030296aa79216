import { createServer } from "node:net";
import { findPython, type PythonInfo } from "../../src/backends/subprocess/find-python.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import { openStorage } from "../drivers/open.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** How `doctor` reaches the machine it examines; tests hand in their own. */
export type DoctorProbes = {
  readonly runtime: { readonly name: string; readonly version: string };
  /** @throws Error with one sentence for a bad setting. */
  readSettings(env: Env): Config;
  /** @throws Error, `what is wrong; what to do`. */
  findPython(env: Env): Promise<Pick<PythonInfo, "executable" | "version" | "externallyManaged" | "hasPip" | "uv">>;
  /**
   * Opens the store, writes one value, reads it back and removes it.
   * @returns where the store is, without a password. @throws Error with one sentence.
   */
  tryStore(setting: string | undefined, env: Env): Promise<string>;
  /** Listens for a moment. @throws what the system says, such as EADDRINUSE. */
  tryListen(host: string, port: number): Promise<void>;
  readonly fetch: typeof fetch;
  /** Unix milliseconds. */
  now(): number;
};

function runtimeOf(): DoctorProbes["runtime"] {
  const { bun, deno, node } = process.versions as Record<string, string | undefined>;
  if (bun !== undefined) return { name: "Bun", version: bun };
  if (deno !== undefined) return { name: "Deno", version: deno };
  return { name: "Node", version: node ?? "0" };
}

async function tryStore(setting: string | undefined, env: Env): Promise<string> {
  const { storage, description, close } = await openStorage(setting, env);
  const key = `doctor:${crypto.randomUUID()}`;
  try {
    await storage.setItem(key, { sound: true });
    const back = await storage.getItem<{ sound?: boolean }>(key);
    await storage.removeItem(key);
    if (back?.sound !== true) throw new Error("what was written did not come back");
    return description;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`History cannot be kept in ${description}: ${reason}`, { cause: error });
  } finally {
    await close();
  }
}

function tryListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

/** The machine as it is. */
export function machineProbes(): DoctorProbes {
  return {
    runtime: runtimeOf(),
    readSettings: parseConfig,
    findPython,
    tryStore,
    tryListen,
    fetch: (input, init) => fetch(input, init),
    now: Date.now,
  };
}
