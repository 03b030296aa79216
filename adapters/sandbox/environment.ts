import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Binding } from "./view.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const LANGUAGE = /^(?:LANG|LANGUAGE|LC_[A-Z]+|TZ)$/;
const CERTIFICATES = ["SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"];
const PROXIES = /^(?:https?|all|no)_proxy$/i;
/** Settings of pip that name an index or how to reach it. */
const INDEX =
  /^PIP_(?:INDEX_URL|EXTRA_INDEX_URL|NO_INDEX|FIND_LINKS|TRUSTED_HOST|CERT|CLIENT_CERT|PROXY|DEFAULT_TIMEOUT|RETRIES|CONFIG_FILE)$/;

/** What a session's processes find in their environment: nothing of the server's but its language. */
export function sessionEnvironment(python: string, network: boolean, env: Environment): Record<string, string> {
  return {
    ...plainEnvironment(python, env),
    ...(network ? pick(env, (name, value) => CERTIFICATES.includes(name) || isOpenProxy(name, value)) : {}),
  };
}

/** What pip finds while it downloads, with the password of an index, if it needs one. No code of packages runs then. */
export function downloadEnvironment(python: string, env: Environment): Record<string, string> {
  const wanted = (name: string): boolean => CERTIFICATES.includes(name) || PROXIES.test(name) || INDEX.test(name);
  return { ...plainEnvironment(python, env), ...pick(env, wanted) };
}

export function plainEnvironment(python: string, env: Environment): Record<string, string> {
  return {
    ...pick(env, (name) => LANGUAGE.test(name)),
    PATH: [...new Set([dirname(python), "/usr/local/bin", "/usr/bin", "/bin"])].join(":"),
    HOME: "/home/repl",
    TMPDIR: "/tmp",
    USER: "repl",
    LOGNAME: "repl",
    SHELL: "/bin/sh",
  };
}

/** Files and folders of this machine that an environment's values name, to be shown as well. */
export function namedPaths(environment: Readonly<Record<string, string>>): Binding[] {
  const values = Object.entries(environment).filter(([name]) => CERTIFICATES.includes(name) || INDEX.test(name));
  const paths = values.flatMap(([, value]) => value.split(/\s+/)).map((path) => path.replace(/^file:\/\//, ""));
  return paths
    .filter((path) => path.startsWith("/") && existsSync(path))
    .map((path) => ({ from: path, to: path, writable: false }));
}

/** A proxy's address may hold a password, which is not for the code that runs. */
function isOpenProxy(name: string, value: string): boolean {
  return PROXIES.test(name) && !value.includes("@");
}

function pick(env: Environment, wanted: (name: string, value: string) => boolean): Record<string, string> {
  const entries = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(entries.filter(([name, value]) => wanted(name, value)));
}
