import { randomBytes } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { dirname, join } from "node:path";
import { findPython, type PythonInfo } from "../../src/backends/subprocess/find-python.ts";
import { type Config, parseConfig } from "../../src/config.ts";
import { dataFolder } from "../drivers/open.ts";

export type Env = Readonly<Record<string, string | undefined>>;

/** How `doctor` reaches the machine it examines; tests hand in their own. */
export type DoctorProbes = {
  readonly runtime: { readonly name: string; readonly version: string };
  /** @throws Error with one sentence for a bad setting. */
  readSettings(env: Env): Config;
  /** @throws Error, `what is wrong; what to do`. */
  findPython(env: Env): Promise<Pick<PythonInfo, "executable" | "version" | "externallyManaged" | "hasPip" | "uv">>;
  dataFolder(env: Env): string;
  folderOf(path: string): string;
  /** Makes the folder and writes in it. @throws what the file system says. */
  tryFolder(path: string): Promise<void>;
  /** Listens for a moment. @throws what the system says, such as EADDRINUSE. */
  tryListen(host: string, port: number): Promise<void>;
  /** Connects for a moment. @throws what the system says, or that it took too long. */
  tryConnect(host: string, port: number, limitMs: number): Promise<void>;
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

async function tryFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const file = join(path, `.doctor-${randomBytes(6).toString("hex")}`);
  await writeFile(file, "", { flag: "wx" });
  await rm(file);
}

function tryListen(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve()));
  });
}

function tryConnect(host: string, port: number, limitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, timeout: limitMs });
    const end = (settle: () => void) => {
      socket.destroy();
      settle();
    };
    socket.once("connect", () => end(resolve));
    socket.once("timeout", () => end(() => reject(new Error(`no answer in ${limitMs / 1000} s`))));
    socket.once("error", (error) => end(() => reject(error)));
  });
}

/** The machine as it is. */
export function machineProbes(): DoctorProbes {
  return {
    runtime: runtimeOf(),
    readSettings: parseConfig,
    findPython,
    dataFolder,
    folderOf: dirname,
    tryFolder,
    tryListen,
    tryConnect,
    fetch: (input, init) => fetch(input, init),
    now: Date.now,
  };
}
