import type { Authenticator } from "../auth/authenticator.ts";
import { LoginCookies } from "../auth/cookies.ts";
import { isSameOrigin, type NetworkOptions } from "../auth/origin.ts";
import { LOCAL_PRINCIPAL, type Principal } from "../auth/principal.ts";
import { importSealKey, randomSealKey, type SealKey } from "../auth/seal.ts";
import { asset } from "./assets.ts";
import { readForm } from "./form.ts";
import { loginPage } from "./login-page.tsx";
import { messagePage } from "./message-page.tsx";
import { redirect, refused, wantsPage } from "./respond.ts";

/** Who looks at a page. `login` is what forms are bound to; without it the request proved itself by its header. */
export type Visitor = { readonly principal: Principal; readonly login?: string };

export type GateOptions = {
  readonly authenticator: Authenticator;
  readonly network: NetworkOptions;
  /** `REPL_SEAL_KEY`; without it, logins end with the process. */
  readonly sealKey?: string | undefined;
  /** Several processes answer the same browser, which only works with a common key. */
  readonly shared?: boolean;
};

/** The door of the pages. */
export type Gate = {
  /** Who visits, or the answer where there is none, or where the door itself answers: login, logout, style and script. */
  admit(request: Request): Promise<Visitor | Response>;
  /** What forms of a page send back; empty where nothing has to be proved. */
  formToken(request: Request, visitor: Visitor): Promise<string>;
  /** Did a page of ours, shown to this visitor, send the form? */
  trusts(request: Request, visitor: Visitor, token: string | null): Promise<boolean>;
};

const PAGE_PATH = /^\/(?:$|live$|login$|logout$|sessions$|assets\/|s\/)/;

/** Does the path belong to the pages? Trailing slashes do not matter, as everywhere in the app. */
export function isPagePath(path: string): boolean {
  return PAGE_PATH.test(path.length > 1 ? path.replace(/\/$/, "") : path);
}

/** On an open server forms are bound to the process alone. */
const LOCAL_LOGIN = "local";

/** The largest login form; a signed token of an identity server has a few thousand characters. */
const MAX_LOGIN_BYTES = 64 * 1024;

export function createGate(options: GateOptions): Gate {
  return new PageGate(options);
}

class PageGate implements Gate {
  readonly #options: GateOptions;
  readonly #open: boolean;
  #key: Promise<SealKey> | undefined;

  constructor(options: GateOptions) {
    this.#options = options;
    this.#open = options.authenticator.mode === "none";
  }

  async admit(request: Request): Promise<Visitor | Response> {
    const path = new URL(request.url).pathname.replace(/(.)\/$/, "$1");
    const file = asset(path);
    if (file) return file;
    const problem = keyProblem(this.#options, this.#open);
    if (problem) return messagePage({ title: "The page is not set up", text: problem, status: 503 });
    if (path === "/login" && !this.#open) return logIn(request, await this.#cookies(request), this.#options);
    const visitor = await this.#identify(request);
    return path !== "/logout" || visitor instanceof Response ? visitor : this.#logOut(request, visitor);
  }

  async formToken(request: Request, visitor: Visitor): Promise<string> {
    if (visitor.login === undefined) return "";
    return (await this.#cookies(request)).csrfToken({ id: visitor.login, principal: visitor.principal });
  }

  async trusts(request: Request, visitor: Visitor, token: string | null): Promise<boolean> {
    if (visitor.login === undefined) return true;
    if (!isSameOrigin(request, this.#options.network)) return false;
    return (await this.#cookies(request)).checkCsrf({ id: visitor.login, principal: visitor.principal }, token);
  }

  async #cookies(request: Request): Promise<LoginCookies> {
    const { authenticator, network, sealKey } = this.#options;
    this.#key ??= sealKey === undefined ? randomSealKey() : importSealKey(sealKey);
    const secure = network.https || new URL(request.url).protocol === "https:";
    return new LoginCookies({ key: await this.#key, authenticator, secure });
  }

  async #identify(request: Request): Promise<Visitor | Response> {
    if (this.#open) return { principal: LOCAL_PRINCIPAL, login: LOCAL_LOGIN };
    if (request.headers.has("authorization")) {
      const principal = await this.#options.authenticator.authenticate(request);
      return principal instanceof Response ? principal : { principal };
    }
    const session = await (await this.#cookies(request)).read(request);
    if (session) return { principal: session.principal, login: session.id };
    if (!wantsPage(request)) return refused(401, "You are not logged in, or no longer");
    const { pathname } = new URL(request.url);
    return isFromElsewhere(request) ? again(pathname) : redirect(`/login?next=${encodeURIComponent(pathname)}`);
  }

  async #logOut(request: Request, visitor: Visitor): Promise<Response> {
    const form = request.method === "POST" ? await readForm(request, MAX_LOGIN_BYTES) : undefined;
    if (!form || !(await this.trusts(request, visitor, form.get("csrf")))) return redirect("/");
    const ended = (await this.#cookies(request)).logOut();
    return redirect("/login", { "Set-Cookie": ended, "Clear-Site-Data": '"cache"' });
  }
}

function keyProblem({ sealKey, shared }: GateOptions, open: boolean): string | undefined {
  if (open || !shared || sealKey !== undefined) return undefined;
  return "Logins need a key that all parts of the server share: set REPL_SEAL_KEY (openssl rand -base64 32).";
}

async function logIn(request: Request, cookies: LoginCookies, options: GateOptions): Promise<Response> {
  const { authenticator, network } = options;
  const { mode } = authenticator;
  const next = localPath(new URL(request.url).searchParams.get("next"));
  if (request.method !== "POST") return (await cookies.read(request)) ? redirect(next) : loginPage({ mode, next });
  if (!isSameOrigin(request, network)) return loginPage({ mode, next, problem: "The form came from another page." });
  const form = await readForm(request, MAX_LOGIN_BYTES);
  const cookie = await cookies.logIn(form?.get("token") ?? "");
  if (cookie) return redirect(next, { "Set-Cookie": cookie });
  return loginPage({ mode, next, problem: "This token is not known, or has expired." });
}

/** Where to go after a login: only to pages of ours. */
function localPath(path: string | null): string {
  return path !== null && /^\/(?:s\/[A-Za-z0-9._-]{1,64})?$/.test(path) ? path : "/";
}

/** Was the page reached by a link of another site? Browsers then hold back the cookie, though there may be one. */
function isFromElsewhere(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}

/** Asks the browser to come again by itself, which sends the cookie. */
function again(path: string): Response {
  return messagePage({ title: "One moment", text: "Opening the page.", refresh: `0;url=${localPath(path)}` });
}
