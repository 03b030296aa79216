import { SCOPES } from "./principal.ts";

const WELL_KNOWN = "/.well-known/oauth-protected-resource";
const METHODS = "GET, HEAD, OPTIONS";

export type ResourceOptions = {
  /** Where clients reach the server, without a final slash, such as `https://repl.example.com` or `…/base`. */
  readonly publicUrl: string;
  /** Paths behind it that are MCP endpoints. */
  readonly paths: readonly string[];
  /** The authorization server. */
  readonly issuer: string;
};

/** RFC 9728 for one server: the whole of it is a resource, and each of its endpoints is one. */
export class ProtectedResource {
  readonly #issuer: string;
  readonly #origin: string;
  readonly #base: string;
  readonly #paths: readonly string[];

  constructor(options: ResourceOptions) {
    const url = new URL(options.publicUrl);
    this.#issuer = options.issuer;
    this.#origin = url.origin;
    this.#base = url.pathname.replace(/\/$/, "");
    this.#paths = ["", ...options.paths];
  }

  /** All identifiers that a token may be for (RFC 8707). The whole server's is accepted with and without its slash. */
  get identifiers(): readonly string[] {
    const root = `${this.#origin}${this.#base}`;
    return [`${root}/`, ...this.#paths.map((path) => `${root}${path}`)];
  }

  /** Returns the URL of the metadata for a request's path, for its challenge. */
  metadataUrl(pathname: string): string {
    const path = this.#paths.find((candidate) => candidate !== "" && pathname.endsWith(candidate)) ?? "";
    return `${this.#origin}${WELL_KNOWN}${this.#base}${path}`;
  }

  /**
   * Answers a request for metadata, at the root's place and each endpoint's; undefined for any other request.
   * Readable from any page: it holds nothing secret and sets nothing.
   */
  respond(request: Request): Response | undefined {
    const at = request.url.indexOf(WELL_KNOWN);
    if (at < 0) return undefined;
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith(WELL_KNOWN)) return undefined;
    const suffix = pathname.slice(WELL_KNOWN.length).replace(/\/$/, "");
    // A proxy may pass on the host's well-known place as it is, with the base path, or with it cut off.
    const rest = this.#base !== "" && suffix.startsWith(this.#base) ? suffix.slice(this.#base.length) : suffix;
    if (!this.#paths.includes(rest)) return undefined;
    return this.#answer(request.method, rest);
  }

  #answer(method: string, path: string): Response {
    const headers = { "Access-Control-Allow-Origin": "*", "X-Content-Type-Options": "nosniff" };
    if (method === "OPTIONS") {
      const preflight = {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": "MCP-Protocol-Version",
      };
      return new Response(null, { status: 204, headers: { ...headers, ...preflight } });
    }
    if (method !== "GET" && method !== "HEAD") {
      return new Response(null, { status: 405, headers: { ...headers, Allow: METHODS } });
    }
    const body = JSON.stringify(this.#document(path));
    const type = { "Content-Type": "application/json", "Cache-Control": "public, max-age=3600" };
    return new Response(method === "HEAD" ? null : body, { headers: { ...headers, ...type } });
  }

  #document(path: string): Readonly<Record<string, unknown>> {
    return {
      resource: `${this.#origin}${this.#base}${path === "" ? "/" : path}`,
      authorization_servers: [this.#issuer],
      scopes_supported: SCOPES,
      bearer_methods_supported: ["header"],
      resource_name: "Python REPL",
    };
  }
}
