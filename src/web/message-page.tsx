/** @jsxImportSource hono/jsx */
import { documentResponse } from "./layout.ts";

export type Message = {
  readonly title: string;
  /** Sentences. */
  readonly text: string;
  readonly status?: number;
  readonly refresh?: string;
};

/** A page that says one thing and leads back to the sessions. */
export function messagePage({ title, text, status, refresh }: Message): Response {
  const body = (
    <main class="card">
      <h1>{title}</h1>
      <p>{text}</p>
      <p>
        <a href="/">All sessions</a>
      </p>
    </main>
  );
  return documentResponse({ title, body: String(body), status, refresh });
}
