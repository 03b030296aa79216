import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { Redis } from "ioredis";

/** A real Redis on a free loopback port that keeps nothing on the disk. */
export type RedisServer = {
  readonly port: number;
  readonly url: string;
  stop(): Promise<void>;
  start(): Promise<void>;
};

const STARTS = 100;

/** Why there is no Redis to test with; false when there is one. */
export const noRedis: string | false =
  spawnSync("redis-server", ["--version"]).status === 0 ? false : "redis-server is not installed";

export async function startRedis(...settings: readonly string[]): Promise<RedisServer> {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"];
    child = spawn("redis-server", [...fixed, ...settings], { stdio: "ignore" });
    await answers(port);
  };
  const stop = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  };
  await start();
  return { port, url: `redis://127.0.0.1:${port}`, start, stop };
}

/** Waits until something answers there, be it that a password is wanted. */
async function answers(port: number): Promise<void> {
  const client = new Redis(port, "127.0.0.1", {
    lazyConnect: true,
    enableReadyCheck: false,
    maxRetriesPerRequest: null,
    retryStrategy: (attempts) => (attempts > STARTS ? null : 50),
  });
  client.on("error", () => {});
  const reply = await client.ping().catch((error: unknown) => String(error));
  client.disconnect();
  if (!/PONG|NOAUTH/.test(reply)) throw new Error(`Redis did not start: ${reply}`);
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("No port was given");
  return address.port;
}
