import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";

/** A confidential client that logs in for itself. */
export const MACHINE = { clientId: "nightly-job", clientSecret: crypto.randomUUID() };
/** The resource server, when it asks about tokens. */
export const INTROSPECTOR = { clientId: "repl-server", clientSecret: crypto.randomUUID() };

export type IdentityOptions = {
  /** What an access token looks like. */
  readonly format: "jwt" | "opaque";
  /** Resources that tokens may be asked for. */
  readonly resources: () => readonly string[];
};

/** A real OpenID provider on loopback, with knobs for what people and time would do. */
export type IdentityServer = {
  readonly issuer: string;
  /** Who logs in when a browser comes. */
  user: string;
  /** Which scopes that person grants. */
  granted: readonly string[];
  /** Seconds that the next access tokens live. */
  tokenSeconds: number;
  /** Requests that the provider served, as `METHOD /path`. */
  readonly served: string[];
  close(): Promise<void>;
};

type Scopes = { readonly scope: string; readonly audience: string };

/** The parts of the provider's untyped API that are used here. */
type Grant = {
  addOIDCScope(scope: string): void;
  addResourceScope(resource: string, scope: string): void;
  rejectResourceScope(resource: string, scope: string): void;
  save(): Promise<string>;
};
type Context = {
  oidc: {
    session: { accountId: string };
    client: { clientId: string };
    params: { resource?: string; scope?: string };
    provider: { Grant: new (options: { accountId: string; clientId: string }) => Grant };
  };
};

export async function startIdentityServer(options: IdentityOptions): Promise<IdentityServer> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const identity: IdentityServer = {
    issuer,
    user: "user-one",
    granted: ["repl:read", "repl:run"],
    tokenSeconds: 3600,
    served: [],
    close: () => closeServer(server),
  };
  const provider = new Provider(issuer, await configuration(identity, options));
  const callback = provider.callback();
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    const path = request.url?.split("?")[0] ?? "";
    identity.served.push(`${request.method} ${path}`);
    if (!path.startsWith("/interaction/")) return void callback(request, response);
    // The page on which a person would log in and consent: somebody does at once.
    const result = { login: { accountId: identity.user }, consent: {} };
    void provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
  });
  return identity;
}

async function configuration(identity: IdentityServer, { format, resources }: IdentityOptions) {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const client = { redirect_uris: [], response_types: [], grant_types: ["client_credentials"] };
  return {
    clients: [MACHINE, INTROSPECTOR].map(({ clientId, clientSecret }) => ({
      ...client,
      client_id: clientId,
      client_secret: clientSecret,
    })),
    scopes: ["openid", "offline_access", "repl:read", "repl:run"],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), use: "sig", alg: "RS256", kid: "one" }] },
    cookies: { keys: [crypto.randomUUID()] },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      introspection: { enabled: true },
      registration: { enabled: true },
      revocation: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_context: Context, resource: string): object => {
          if (!resources().includes(resource)) throw new Error(`Nobody knows ${resource}`);
          const scopes: Scopes = { scope: "repl:read repl:run", audience: resource };
          return {
            ...scopes,
            accessTokenFormat: format,
            accessTokenTTL: identity.tokenSeconds,
            jwt: { sign: { alg: "RS256" } },
          };
        },
      },
    },
    findAccount: (_context: Context, id: string) => ({ accountId: id, claims: () => ({ sub: id }) }),
    issueRefreshToken: () => true,
    loadExistingGrant: (context: Context) => grantFor(context, identity.granted),
  };
}

/** The consent that a person would give to what a client asks for. */
async function grantFor({ oidc }: Context, granted: readonly string[]): Promise<Grant> {
  const grant = new oidc.provider.Grant({ accountId: oidc.session.accountId, clientId: oidc.client.clientId });
  // The provider wants all scopes that are asked for settled as its own, too; only the resource's reach the token.
  grant.addOIDCScope("openid offline_access repl:read repl:run");
  const { resource } = oidc.params;
  for (const scope of ["repl:read", "repl:run"]) {
    if (resource === undefined) continue;
    if (granted.includes(scope)) grant.addResourceScope(resource, scope);
    else grant.rejectResourceScope(resource, scope);
  }
  await grant.save();
  return grant;
}

async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, "close");
}
