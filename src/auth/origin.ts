import { isLoopbackHost } from "./safe-url.ts";

/** Names of this machine, with which a loopback bind is reached. IPv6 as in a Host header. */
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"] as const;

/** Verdicts that are remembered, so that the usual request allocates nothing. */
const MAX_REMEMBERED = 64;

export type NetworkOptions = {
  /** Host names that may be asked for, lower case and without port; undefined: all. */
  readonly hosts: ReadonlySet<string> | undefined;
  /** Origins of web pages that may call, such as `https://app.example.com`. */
  readonly origins: ReadonlySet<string>;
  readonly anyOrigin: boolean;
  /** The public URL's, which differs from the request's behind a proxy. */
  readonly ownOrigin: string | undefined;
  /** Pages served by this machine may call, on any port. */
  readonly loopbackOrigins: boolean;
  /** Tell browsers to come by https only. */
  readonly https: boolean;
  readonly rememberedHosts: Set<string>;
  readonly rememberedOrigins: Set<string>;
};

export type NetworkInput = {
  /** Address that is listened on; undefined where a platform does that, as on Workers. */
  readonly bind?: string;
  readonly publicUrl?: string;
  /** Further host names, without port. */
  readonly hosts?: readonly string[];
  /** Origins, or `*` for any page, which needs authentication. */
  readonly origins?: readonly string[];
  readonly authenticated: boolean;
};

/**
 * Prepares the guards. On a loopback bind, where a page that rebinds its DNS name could reach the server, only names
 * of this machine, the public URL's and configured ones are served; elsewhere names are checked once some are configured.
 * @throws Error with one sentence about a name or origin that is not sound.
 */
export function networkOptions(input: NetworkInput): NetworkOptions {
  const loopback = input.bind !== undefined && isLoopbackHost(input.bind);
  const url = input.publicUrl === undefined ? undefined : new URL(input.publicUrl);
  const named = (input.hosts ?? []).map(checkedHost);
  const origins = (input.origins ?? []).filter((origin) => origin !== "*").map(checkedOrigin);
  const anyOrigin = input.origins?.includes("*") ?? false;
  if (anyOrigin && !input.authenticated) {
    throw new Error("The allowed origin * needs authentication: without, every web page could run code here");
  }
  const own = url === undefined ? [] : [url.hostname];
  const hosts = loopback || named.length > 0 ? new Set([...LOOPBACK_NAMES, ...own, ...named]) : undefined;
  return {
    hosts,
    origins: new Set(url === undefined ? origins : [url.origin, ...origins]),
    anyOrigin,
    ownOrigin: url?.origin,
    loopbackOrigins: loopback,
    https: url?.protocol === "https:",
    rememberedHosts: new Set(),
    rememberedOrigins: new Set(),
  };
}

/** Refuses a request for a host that is not ours (DNS rebinding). */
export function checkHost(request: Request, options: NetworkOptions): Response | undefined {
  if (options.hosts === undefined) return undefined;
  const header = request.headers.get("host") ?? new URL(request.url).host;
  if (options.rememberedHosts.has(header)) return undefined;
  const name = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)(?::\d{1,5})?$/.exec(header.toLowerCase())?.[1];
  if (name === undefined || !options.hosts.has(name)) {
    return refuse("This server is not reached under the host name of the request; REPL_ALLOWED_HOSTS can allow it");
  }
  remember(options.rememberedHosts, header);
  return undefined;
}

/** Refuses a request that a web page of another origin made. Requests without `Origin` are not from a page's script. */
export function checkOrigin(request: Request, options: NetworkOptions): Response | undefined {
  const origin = request.headers.get("origin");
  if (origin === null || isAllowedOrigin(origin, request, options)) return undefined;
  return refuse("Pages of the request's origin may not call this server; REPL_ALLOWED_ORIGINS can allow it");
}

/** May a page of `origin` call? It may when it is ours, configured, or on this machine as a loopback bind is. */
export function isAllowedOrigin(origin: string, request: Request, options: NetworkOptions): boolean {
  if (options.origins.has(origin) || options.rememberedOrigins.has(origin) || options.anyOrigin) return true;
  // Also false for `null`, which sandboxed frames and files send, and for anything but scheme, host and port.
  if (!URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.origin !== origin || !url.protocol.startsWith("http")) return false;
  if (options.loopbackOrigins && isLoopbackHost(url.hostname)) {
    remember(options.rememberedOrigins, origin);
    return true;
  }
  return url.host === (request.headers.get("host") ?? new URL(request.url).host);
}

/**
 * Did a page of this very server send the request? For forms that are posted before there is a login: browsers name
 * the origin of every POST. Other clients, which send no `Origin`, are refused.
 */
export function isSameOrigin(request: Request, options: NetworkOptions): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin") return false;
  const origin = request.headers.get("origin");
  if (origin === null || !URL.canParse(origin)) return false;
  const { host } = new URL(origin);
  return origin === options.ownOrigin || host === (request.headers.get("host") ?? new URL(request.url).host);
}

function refuse(message: string): Response {
  const body = { jsonrpc: "2.0", error: { code: -32000, message }, id: null };
  return Response.json(body, { status: 403, headers: { "Cache-Control": "no-store" } });
}

function remember(set: Set<string>, item: string): void {
  if (set.size >= MAX_REMEMBERED) set.clear();
  set.add(item);
}

function checkedHost(text: string): string {
  const name = text.toLowerCase();
  if (/^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+)$/.test(name)) return name;
  throw new Error(`The allowed host ${JSON.stringify(text)} is not a host name without port`);
}

function checkedOrigin(text: string): string {
  // An extension's origin has a scheme of its own, for which `URL.origin` is the text `null`.
  if (/^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]+$/.test(text) && URL.canParse(text)) return text;
  throw new Error(`The allowed origin ${JSON.stringify(text)} is not scheme://host[:port], nor *`);
}
