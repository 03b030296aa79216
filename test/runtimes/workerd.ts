import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { build } from "esbuild";
import { ROOT } from "../helpers/process.ts";

/** The program itself: the package's script would not pass signals and descriptors on. */
const WORKERD: string = createRequire(join(ROOT, "test/package.json"))("workerd").default;

/** A Worker in workerd itself, Cloudflare's open-source runtime, with its objects' storage on the disk. */
export type Workerd = {
  readonly url: URL;
  /** The same through another isolate, which has nothing in common with the first but the objects. */
  readonly otherUrl: URL;
  readonly pid: number;
  /** What it wrote to stderr, logs of the Worker included. */
  stderr(): string;
  /** Ends the process at once, as a machine that fails does; the storage stays. */
  kill(): Promise<void>;
  /** Starts it again on the same storage, at a new address. */
  restart(): Promise<void>;
  /** Ends it and removes the storage. */
  stop(): Promise<void>;
};

export type WorkerOptions = {
  /** Relative to the root; the Worker as deployed by default. */
  readonly entry?: string;
  /** The text of a module, in place of an entry. */
  readonly module?: string;
  /** Text bindings. */
  readonly env: Readonly<Record<string, string>>;
  readonly compatibilityDate?: string;
  readonly compatibilityFlags?: readonly string[];
  /** Leaves the binding of the objects out. */
  readonly withoutObjects?: boolean;
};

const toml = readFileSync(join(ROOT, "wrangler.toml"), "utf8");

/** What wrangler.toml says, as far as a bundle and a process need it: it is the deployed configuration that is tested. */
const DEPLOYED = {
  date: /^compatibility_date = "(.+)"/m.exec(toml)?.[1] ?? "",
  flags: (JSON.parse(/^compatibility_flags = (.+)$/m.exec(toml)?.[1] ?? "[]") as string[]) ?? [],
  alias: Object.fromEntries(
    [...(toml.split("[alias]")[1] ?? "").matchAll(/^"(.+?)" = "(.+?)"$/gm)].map(([, from, to]) => [from, to]),
  ) as Record<string, string>,
};

const bundles = new Map<string, Promise<string>>();

/** Bundles an entry as wrangler does. @returns The text of the module. */
export function bundleWorker(entry: string): Promise<string> {
  let bundle = bundles.get(entry);
  bundle ??= build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    external: ["node:*", "cloudflare:*"],
    alias: DEPLOYED.alias,
    logLevel: "error",
  }).then(({ outputFiles }) => outputFiles[0]?.text ?? "");
  bundles.set(entry, bundle);
  return bundle;
}

/** Starts a Worker on a free loopback port. @throws Error with what workerd wrote when it ends instead. */
export async function startWorkerd(options: WorkerOptions): Promise<Workerd> {
  const folder = mkdtempSync(join(tmpdir(), "workerd-"));
  mkdirSync(join(folder, "disk"));
  const text = options.module ?? (await bundleWorker(options.entry ?? "test/runtimes/worker-entry.ts"));
  writeFileSync(join(folder, "worker.mjs"), text);
  writeFileSync(join(folder, "workerd.capnp"), configOf(options));
  let process = await startProcess(folder);
  return {
    get url() {
      return process.url;
    },
    get otherUrl() {
      return process.otherUrl;
    },
    get pid() {
      return process.pid;
    },
    stderr: () => process.stderr(),
    kill: () => process.kill(),
    async restart() {
      await process.kill();
      process = await startProcess(folder);
    },
    async stop() {
      await process.kill();
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function configOf({ env, compatibilityDate, compatibilityFlags, withoutObjects = false }: WorkerOptions): string {
  const texts = Object.entries(env).map(([name, text]) => `(name = "${name}", text = ${JSON.stringify(text)})`);
  const worker = (objects: string): string => `(
  modules = [(name = "main", esModule = embed "worker.mjs")],
  compatibilityDate = "${compatibilityDate ?? DEPLOYED.date}",
  compatibilityFlags = ${JSON.stringify(compatibilityFlags ?? DEPLOYED.flags)},
  bindings = [${[...texts, ...(withoutObjects ? [] : [`(name = "OWNERS", durableObjectNamespace = ${objects})`])].join(", ")}],
  durableObjectNamespaces = [(className = "OwnerObject", uniqueKey = "owner", enableSql = true)],
  durableObjectStorage = (localDisk = "disk"),
)`;
  return `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .main),
    (name = "other", worker = .other),
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "disk", disk = (path = "disk", writable = true)),
  ],
  sockets = [
    (name = "main", address = "127.0.0.1:0", http = (), service = "main"),
    (name = "other", address = "127.0.0.1:0", http = (), service = "other"),
  ],
);
const main :Workerd.Worker = ${worker('"OwnerObject"')};
const other :Workerd.Worker = ${worker('(className = "OwnerObject", serviceName = "main")')};
`;
}

type WorkerdProcess = Pick<Workerd, "url" | "otherUrl" | "pid" | "stderr" | "kill">;

async function startProcess(folder: string): Promise<WorkerdProcess> {
  const args = ["serve", "workerd.capnp", "--control-fd=3"];
  const child = spawn(WORKERD, args, { cwd: folder, stdio: ["ignore", "pipe", "pipe", "pipe"] });
  const ended = once(child, "exit");
  let written = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text: string) => {
      written += text;
    });
  }
  const ports = await portsOf(child.stdio[3] as Readable, ["main", "other"]);
  if (!ports) throw new Error(`workerd ended before it listened: ${written}`);
  const urlOf = (socket: string): URL => new URL(`http://127.0.0.1:${ports.get(socket)}/mcp`);
  return {
    url: urlOf("main"),
    otherUrl: urlOf("other"),
    pid: child.pid as number,
    stderr: () => written,
    async kill() {
      if (child.exitCode === null && child.signalCode === null && child.kill("SIGKILL")) await ended;
    },
  };
}

/** Reads which ports it listens on; undefined when it ended first. */
async function portsOf(control: Readable, sockets: readonly string[]): Promise<Map<string, string> | undefined> {
  const ports = new Map<string, string>();
  let text = "";
  for await (const chunk of control) {
    text += String(chunk);
    for (const [, socket = "", port = ""] of text.matchAll(/"event":"listen","socket":"(\w+)","port":(\d+)/g)) {
      ports.set(socket, port);
    }
    if (sockets.every((socket) => ports.has(socket))) return ports;
  }
  return undefined;
}
