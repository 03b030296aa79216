import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from "@modelcontextprotocol/client";

const CALLBACK = "http://127.0.0.1:1/callback";
const MAX_HOPS = 10;

/** The OAuth side of an MCP client, with a person and a browser that go where they are sent. */
export class Person implements OAuthClientProvider {
  readonly redirectUrl = CALLBACK;
  readonly clientMetadata: OAuthClientMetadata = {
    client_name: "A test's client",
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
  };
  /** Scopes to ask for beside those that the client thinks of. */
  alsoAsks = "";
  /** The query of the callback that the last login ended with. */
  callback: URLSearchParams | undefined;
  /** Where the client sent the browser, each time. */
  readonly sentTo: URL[] = [];
  readonly saved: OAuthTokens[] = [];
  #client: OAuthClientInformationMixed | undefined;
  #verifier = "";
  #discovery: OAuthDiscoveryState | undefined;

  clientInformation(): OAuthClientInformationMixed | undefined {
    return this.#client;
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#client = client;
  }

  tokens(): OAuthTokens | undefined {
    return this.saved.at(-1);
  }

  saveTokens(tokens: OAuthTokens): void {
    this.saved.push(tokens);
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier;
  }

  codeVerifier(): string {
    return this.#verifier;
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.#discovery;
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.#discovery = state;
  }

  async redirectToAuthorization(url: URL): Promise<void> {
    this.sentTo.push(url);
    if (this.alsoAsks) url.searchParams.set("scope", `${url.searchParams.get("scope")} ${this.alsoAsks}`);
    this.callback = (await browse(url)).searchParams;
  }
}

/** Follows redirects with cookies, as a browser does, until they lead back to the client. */
async function browse(start: URL): Promise<URL> {
  const cookies = new Map<string, string>();
  let url = start;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      const split = pair.indexOf("=");
      cookies.set(pair.slice(0, split), pair.slice(split + 1));
    }
    const location = answer.headers.get("location");
    if (location === null)
      throw new Error(`The login ended at ${url.pathname} with ${answer.status}: ${await answer.text()}`);
    url = new URL(location, url);
    if (url.href.startsWith(CALLBACK)) return url;
  }
  throw new Error(`The login did not end after ${MAX_HOPS} redirects`);
}
