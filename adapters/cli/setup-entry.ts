import type { Client, RemoteEntry } from "./clients/types.ts";
import { CliError, type CliIo } from "./setup-io.ts";
import type { Json } from "./setup-json.ts";

/** What the entry shall make the client do. */
export type Target =
  | { readonly kind: "command"; readonly command: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly kind: "url"; readonly url: string; readonly tokenEnv?: string };

/** One server's entry, and what VS Code must be told to ask for. */
export type Entry = { readonly value: Readonly<Record<string, Json>>; readonly input?: Readonly<Record<string, Json>> };

/** Keys that say how to reach a server; those of the other kind go when an entry changes its kind. */
export const TRANSPORT_KEYS: Readonly<Record<Target["kind"], readonly string[]>> = {
  command: ["command", "args", "env", "env_vars", "envFile", "cwd"],
  url: ["url", "serverUrl", "httpUrl", "headers", "http_headers", "env_http_headers", "bearer_token_env_var"],
};

export const PACKAGE = "edge-python-repl";

/**
 * The command that starts this program again. A program in npx's cache may be gone tomorrow and a shared file must
 * suit other machines: both get `npx`. Everything else gets full paths, because desktop clients start programs
 * without the shell's PATH.
 */
export function ownCommand(io: CliIo, shared: boolean): readonly string[] {
  const script = io.program?.script ?? process.argv[1];
  const node = io.program?.node ?? process.execPath;
  if (script !== undefined && !shared && !/[\\/]_npx[\\/]/.test(script)) return [node, script];
  const npx = ["npx", "-y", PACKAGE];
  return io.platform === "win32" && !shared ? ["cmd", "/c", ...npx] : npx;
}

/** Returns the URL as an MCP endpoint: `/mcp` is added to a bare origin. @throws CliError */
export function endpointUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) {
    throw new CliError(`--url must be a URL that starts with http:// or https://, not ${JSON.stringify(text)}`, 2);
  }
  if (url.username !== "" || url.password !== "") {
    throw new CliError("--url must not hold a user name or password; name a variable with --token-env instead", 2);
  }
  if (url.pathname === "/") url.pathname = "/mcp";
  return url.href;
}

function remoteEntry(
  client: Client,
  remote: RemoteEntry,
  target: Extract<Target, { kind: "url" }>,
  name: string,
): Entry {
  const { token, type, urlKey } = remote;
  const value: Record<string, Json> = { ...(type && { type }), [urlKey]: target.url };
  if (target.tokenEnv === undefined) return { value };
  if (token.kind === "none") throw new CliError(`${client.title} cannot take --token-env: ${token.why}`, 2);
  if (token.kind === "key") return { value: { ...value, [token.key]: target.tokenEnv } };
  if (token.kind === "header") {
    return { value: { ...value, headers: { Authorization: token.value.replace("NAME", target.tokenEnv) } } };
  }
  const id = `${name}-token`;
  return {
    value: { ...value, headers: { Authorization: `Bearer \${input:${id}}` } },
    input: {
      type: "promptString",
      id,
      description: `Token of the ${name} server (${target.tokenEnv})`,
      password: true,
    },
  };
}

/** The entry of `client` for `target`. @throws CliError when the client cannot do that. */
export function entryFor(client: Client, target: Target, name: string): Entry {
  if (target.kind === "url") {
    if ("steps" in client.remote) throw new CliError(`${client.title} takes no URL in its file`, 2);
    return remoteEntry(client, client.remote, target, name);
  }
  if (client.stdio === undefined) {
    throw new CliError(`${client.title} only connects to URLs: give one with --url`, 2);
  }
  const [command = "", ...args] = target.command;
  const { type } = client.stdio;
  const env = Object.keys(target.env).length === 0 ? {} : { env: target.env };
  return { value: { ...(type && { type }), command, args, ...env } };
}
