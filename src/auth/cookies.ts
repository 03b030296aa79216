import type { Authenticator, Login } from "./authenticator.ts";
import { toBase64Url } from "./bytes.ts";
import { isObject } from "./fetch-json.ts";
import { isScope, type Principal } from "./principal.ts";
import { openJson, SealError, type SealKey, sealJson, sign, verifySignature } from "./seal.ts";

const CONTEXT = "login cookie";
const MAX_AGE_SECONDS = 8 * 3600;
/** Browsers keep no longer cookie. */
const MAX_COOKIE = 4096;

/** A page's visitor who has logged in. */
export type LoginSession = {
  /** Random; names this login, not the person. */
  readonly id: string;
  readonly principal: Principal;
};

export type LoginCookieOptions = {
  readonly key: SealKey;
  readonly authenticator: Authenticator;
  /** Is the page reached by https? Without, the cookie lacks `Secure` and its name the prefix that demands it. */
  readonly secure: boolean;
  /** Unix milliseconds. */
  readonly now?: () => number;
};

type Ticket = { readonly id: string; readonly endsAt: number; readonly login: Login };

/**
 * Logins of the notebook page. The cookie is sealed and holds no token, only what is needed to find out later
 * whether the token still counts; scripts cannot read it and other sites cannot cause it to be sent.
 */
export class LoginCookies {
  readonly #key: SealKey;
  readonly #authenticator: Authenticator;
  readonly #now: () => number;
  readonly #name: string;
  readonly #attributes: string;

  constructor(options: LoginCookieOptions) {
    this.#key = options.key;
    this.#authenticator = options.authenticator;
    this.#now = options.now ?? Date.now;
    this.#name = options.secure ? "__Host-repl_login" : "repl_login";
    this.#attributes = `Path=/; HttpOnly; SameSite=Strict${options.secure ? "; Secure" : ""}`;
  }

  /** Checks a token from a login form. Returns the `Set-Cookie` value; undefined when the token is not good. */
  async logIn(token: string): Promise<string | undefined> {
    const login = await this.#authenticator.login(token.trim());
    if (login === undefined) return undefined;
    const endsAt = Math.min(login.expiresAt ?? Number.POSITIVE_INFINITY, this.#now() + MAX_AGE_SECONDS * 1000);
    const id = toBase64Url(crypto.getRandomValues(new Uint8Array(16)));
    const value = await sealJson(this.#key, { id, endsAt, login } satisfies Ticket, CONTEXT);
    const seconds = Math.max(0, Math.floor((endsAt - this.#now()) / 1000));
    return `${this.#name}=${value}; Max-Age=${seconds}; ${this.#attributes}`;
  }

  /** Returns the `Set-Cookie` value that ends a login in the browser. */
  logOut(): string {
    return `${this.#name}=; Max-Age=0; ${this.#attributes}`;
  }

  /** Returns who the cookie says is there; undefined without one that still counts. */
  async read(request: Request): Promise<LoginSession | undefined> {
    const value = cookieOf(request, this.#name);
    if (value === undefined) return undefined;
    const ticket = await this.#open(value);
    if (ticket === undefined || ticket.endsAt <= this.#now()) return undefined;
    const principal = await this.#authenticator.resume(ticket.login);
    return principal === undefined ? undefined : { id: ticket.id, principal };
  }

  /** Returns the token that forms and scripts of a page send back with whatever changes something. */
  csrfToken(session: LoginSession): Promise<string> {
    return sign(this.#key, `csrf ${session.id}`);
  }

  checkCsrf(session: LoginSession, token: string | null | undefined): Promise<boolean> {
    return verifySignature(this.#key, `csrf ${session.id}`, token ?? "");
  }

  async #open(value: string): Promise<Ticket | undefined> {
    try {
      return ticketOf(await openJson(this.#key, value, CONTEXT));
    } catch (error) {
      if (error instanceof SealError) return undefined;
      throw error;
    }
  }
}

function cookieOf(request: Request, name: string): string | undefined {
  const header = request.headers.get("cookie");
  if (header === null) return undefined;
  for (const part of header.split(";")) {
    const split = part.indexOf("=");
    if (split > 0 && part.slice(0, split).trim() === name) return part.slice(split + 1, split + 1 + MAX_COOKIE).trim();
  }
  return undefined;
}

/** The seal proves that we wrote it; an earlier release may have written it differently. */
function ticketOf(value: unknown): Ticket | undefined {
  if (!isObject(value) || typeof value.id !== "string" || typeof value.endsAt !== "number") return undefined;
  const { id, endsAt, login } = value;
  if (!isObject(login) || typeof login.credential !== "string" || !isObject(login.principal)) return undefined;
  const { owner, name, scopes } = login.principal;
  if (typeof owner !== "string" || typeof name !== "string" || !Array.isArray(scopes)) return undefined;
  const principal = { owner, name, scopes: scopes.filter(isScope) };
  const expiry = typeof login.expiresAt === "number" ? { expiresAt: login.expiresAt } : {};
  return { id, endsAt, login: { principal, credential: login.credential, ...expiry } };
}
