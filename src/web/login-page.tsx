/** @jsxImportSource hono/jsx */
import type { Authenticator } from "../auth/authenticator.ts";
import { documentResponse } from "./layout.ts";

export type LoginPage = {
  readonly mode: Authenticator["mode"];
  /** Path to go to after the login. */
  readonly next: string;
  readonly problem?: string;
};

/** The form that takes a token. */
export function loginPage({ mode, next, problem }: LoginPage): Response {
  const hint =
    mode === "oauth"
      ? "An access token for this server, from your identity provider. The login ends with the token."
      : "One of the tokens this server was set up with. The login lasts eight hours.";
  const body = (
    <main class="card">
      <h1>Python sessions</h1>
      <form method="post" action={`/login?next=${encodeURIComponent(next)}`}>
        <label for="token">Token</label>
        <input id="token" name="token" type="password" required autocomplete="off" autofocus aria-describedby="hint" />
        <p id="hint">{hint}</p>
        {problem === undefined ? (
          ""
        ) : (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary">
          Log in
        </button>
      </form>
    </main>
  );
  return documentResponse({ title: "Log in", body: String(body), status: problem === undefined ? 200 : 403 });
}
