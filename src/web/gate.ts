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
  const { authenticator, network } = options;
  const open = authenticator.mode === "none";
  let key: Promise<SealKey> | undefined;
  const cookies = async (request: Request): Promise<LoginCookies> => {
    key ??= options.sealKey === undefined ? randomSealKey() : importSealKey(options.sealKey);
    const secure = network.https || new URL(request.url).protocol === "https:";
    return new LoginCookies({ key: await key, authenticator, secure });
  };
  const sessionOf = ({ principal }: Visitor, id: string) => ({ id, principal });

  async function identify(request: Request): Promise<Visitor | Response> {
    if (open) return { principal: LOCAL_PRINCIPAL, login: LOCAL_LOGIN };
    if (request.headers.has("authorization")) {
      const principal = await authenticator.authenticate(request);
      return principal instanceof Response ? principal : { principal };
    }
    const session = await (await cookies(request)).read(request);
    if (session) return { principal: session.principal, login: session.id };
    if (!wantsPage(request)) return refused(401, "You are not logged in, or no longer");
    const { pathname } = new URL(request.url);
    return isFromElsewhere(request) ? again(pathname) : redirect(`/login?next=${encodeURIComponent(pathname)}`);
  }

  const gate: Gate = {
    async admit(request) {
      const path = new URL(request.url).pathname.replace(/(.)\/$/, "$1");
      const file = asset(path);
      if (file) return file;
      const problem = keyProblem(options, open);
      if (problem) return messagePage({ title: "The page is not set up", text: problem, status: 503 });
      if (path === "/login" && !open) return logIn(request, await cookies(request), options);
      const visitor = await identify(request);
      if (path !== "/logout" || visitor instanceof Response) return visitor;
      const form = request.method === "POST" ? await readForm(request, MAX_LOGIN_BYTES) : undefined;
      if (!form || !(await gate.trusts(request, visitor, form.get("csrf")))) return redirect("/");
      return redirect("/login", {
        "Set-Cookie": (await cookies(request)).logOut(),
        "Clear-Site-Data": '"cache"',
      });
    },
    async formToken(request, visitor) {
      if (visitor.login === undefined) return "";
      return (await cookies(request)).csrfToken(sessionOf(visitor, visitor.login));
    },
    async trusts(request, visitor, token) {
      if (visitor.login === undefined) return true;
      if (!isSameOrigin(request, network)) return false;
      return (await cookies(request)).checkCsrf(sessionOf(visitor, visitor.login), token);
    },
  };
  return gate;
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
