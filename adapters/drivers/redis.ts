import type { Redis, RedisOptions } from "ioredis";
import type { Driver } from "unstorage";
import { createLeaseLocks, type Lease, type Locks } from "../../src/store/locks.ts";

/** Before every key, so that a database can be shared with other programs. */
const PREFIX = "edge-python-repl:";
/** A call that is not answered by then has failed. */
const COMMAND_MS = 3_000;
/**
 * Calls made while the connection is down wait for one try to restore it. Pause and try together are shorter than
 * COMMAND_MS: a write must never be sent after it was reported as failed.
 */
const CONNECT_MS = 2_000;
const RECONNECT_MS = 500;
/** The lock of a server that was killed is free again after this; a living one renews it three times meanwhile. */
const LEASE_MS = 6_000;
const SCAN_COUNT = 1_000;

const RENEW = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("pexpire", KEYS[1], ARGV[2]) end return 0`;
const RELEASE = `if redis.call("get", KEYS[1]) == ARGV[1] then return redis.call("del", KEYS[1]) end return 0`;

export type RedisStore = { readonly driver: Driver; readonly locks: Locks; close(): Promise<void> };

/**
 * Connects to one Redis server. When it goes away later, calls fail within seconds and work again once it is back.
 * How much a restart of Redis itself loses is a matter of its own persistence settings.
 * @throws An Error in one sentence, without the password, when the server cannot be reached now.
 */
export async function openRedis(url: string): Promise<RedisStore> {
  const client = await connect(url);
  return { driver: createRedisDriver(client), locks: createRedisLocks(client), close: async () => client.disconnect() };
}

/** The server's address and database, without user and password. */
export function describeRedis(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}

export function createRedisDriver(client: Redis): Driver {
  const removeAll = async (base = ""): Promise<void> => {
    for (const key of await scan(client, base)) await client.unlink(PREFIX + key);
  };
  return {
    name: "redis",
    hasItem: async (key) => (await client.exists(PREFIX + key)) === 1,
    getItem: (key) => client.get(PREFIX + key),
    async setItem(key, value) {
      await client.set(PREFIX + key, value);
    },
    async removeItem(key) {
      await client.unlink(PREFIX + key);
    },
    getKeys: (base) => scan(client, base),
    clear: removeAll,
    dispose: () => client.disconnect(),
  };
}

/** Locks by keys that expire; their holder renews them and only their holder can remove them. */
export function createRedisLocks(client: Redis, leaseMs = LEASE_MS): Locks {
  return createLeaseLocks(async (key): Promise<Lease | undefined> => {
    const name = `${PREFIX}lock:${key}`;
    const token = crypto.randomUUID();
    if ((await client.set(name, token, "PX", leaseMs, "NX")) === null) return undefined;
    const renewal = setInterval(() => {
      client.eval(RENEW, 1, name, token, leaseMs).catch(() => {}); // The next renewal tries again.
    }, leaseMs / 3);
    return {
      async release() {
        clearInterval(renewal);
        await client.eval(RELEASE, 1, name, token).catch(() => {}); // It expires by itself.
      },
    };
  });
}

async function connect(url: string): Promise<Redis> {
  const { Redis } = await import("ioredis");
  const options: RedisOptions = {
    lazyConnect: true,
    connectTimeout: CONNECT_MS,
    commandTimeout: COMMAND_MS,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    enableAutoPipelining: true,
    retryStrategy: (attempts) => Math.min(attempts * 50, RECONNECT_MS),
  };
  const client = new Redis(url, options);
  let last: unknown;
  client.on("error", (error) => {
    last = error; // Also told to every call that fails; without a listener ioredis writes to the console.
  });
  try {
    await client.connect();
    await client.ping();
    return client;
  } catch (error) {
    client.disconnect();
    throw new Error(`Cannot reach Redis at ${describeRedis(url)}: ${reasonOf(last ?? error)}`, {
      cause: last ?? error,
    });
  }
}

async function scan(client: Redis, base = ""): Promise<string[]> {
  const pattern = `${(PREFIX + base).replace(/[\\*?[\]]/g, "\\$&")}*`;
  const keys = new Set<string>();
  let cursor = "0";
  do {
    const [next, found] = await client.scan(cursor, "MATCH", pattern, "COUNT", SCAN_COUNT);
    for (const key of found) if (!key.startsWith(`${PREFIX}lock:`)) keys.add(key.slice(PREFIX.length));
    cursor = next;
  } while (cursor !== "0");
  return [...keys];
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ("code" in error ? String(error.code) : error.name);
}
