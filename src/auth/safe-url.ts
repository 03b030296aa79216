/** Is `host` (no port; IPv6 with or without brackets) a name of this very machine? */
export function isLoopbackHost(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  return name === "localhost" || name === "::1" || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(name);
}

/**
 * May secrets and trust travel over `text`? Only `https`, or `http` to this machine; no user, no fragment.
 * Returns the reason against it, or undefined when it is fine.
 */
export function urlProblem(text: string): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return "is not an absolute URL";
  }
  if (url.username !== "" || url.password !== "") return "must not hold a user or password";
  if (url.hash !== "") return "must not have a fragment";
  if (url.protocol === "https:") return undefined;
  if (url.protocol === "http:" && isLoopbackHost(url.hostname)) return undefined;
  return "must start with https:// (http:// only for this machine)";
}

export function isSafeUrl(text: string): boolean {
  return urlProblem(text) === undefined;
}
