/** @jsxImportSource hono/jsx */

/** A moment: in UTC, and in the reader's own time where scripts run. */
export function Time({ seconds }: { readonly seconds: number }) {
  const date = new Date(seconds * 1000);
  if (Number.isNaN(date.getTime())) return null;
  const iso = date.toISOString();
  return <time dateTime={iso}>{`${iso.slice(0, 16).replace("T", " ")} UTC`}</time>;
}
