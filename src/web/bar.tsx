/** @jsxImportSource hono/jsx */
import type { Viewer } from "./viewer.ts";

type BarProps = { readonly viewer: Viewer; readonly here?: string };

/** Where one is, and the way out. */
export function PageBar({ viewer, here }: BarProps) {
  return (
    <header class="bar">
      <nav aria-label="Place">
        {here === undefined ? (
          <strong>Python sessions</strong>
        ) : (
          <>
            <a href="/">Python sessions</a> <span aria-hidden="true">/</span> <span aria-current="page">{here}</span>
          </>
        )}
      </nav>
      {viewer.loggedIn && (
        <form method="post" action="/logout">
          <input type="hidden" name="csrf" value={viewer.csrf} />
          <span>{viewer.caller.name}</span>{" "}
          <button type="submit" class="plain">
            Log out
          </button>
        </form>
      )}
    </header>
  );
}
