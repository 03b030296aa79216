/** @jsxImportSource hono/jsx */
import type { Notice } from "./notices.ts";

/** Where a page tells what came of something; read out when it changes. */
export function NoticeLine({ notice }: { readonly notice: Notice | undefined }) {
  return (
    <p id="notice" role="status" class={notice?.kind ?? ""}>
      {notice?.text ?? ""}
    </p>
  );
}
