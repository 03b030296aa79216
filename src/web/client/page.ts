import { items, type LiveReply } from "./items.ts";

/** The pages work without this: it only saves loading them again and again. */

const POLL_BUSY_MS = 700;
const POLL_MS = 2000;
/** A list of sessions costs more to read than one session. */
const POLL_LIST_MS = 4000;
const POLL_TROUBLE_MS = 5000;

const byId = (id: string): HTMLElement | null => document.getElementById(id);

function tell(kind: string, text: string): void {
  const line = byId("notice");
  if (!line || (line.textContent === text && line.className === kind)) return;
  line.className = kind;
  line.textContent = text;
}

/** Asks the server for what changed, sooner while something runs, not at all while nobody looks. */
class Live {
  readonly #address: string;
  readonly #main: HTMLElement;
  #revision = "";
  /** The server's last notice: only another one replaces what the page itself has told since. */
  #notice: string;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Did a request fail, or the last answer? Then its message stays until the next good one. */
  #trouble = false;
  #asking = false;
  #again = false;

  constructor(main: HTMLElement, address: string) {
    this.#main = main;
    this.#address = address;
    this.#notice = byId("notice")?.textContent ?? "";
    document.addEventListener("visibilitychange", () => this.now());
    this.#later(this.#every);
  }

  get #every(): number {
    if (this.#main.dataset.busy === "true" && this.#address !== "/live") return POLL_BUSY_MS;
    return this.#address === "/live" ? POLL_LIST_MS : POLL_MS;
  }

  /** Asks at once; while an answer is on its way, right after it. */
  now(): void {
    if (this.#asking) this.#again = true;
    else this.#later(0);
  }

  #later(ms: number): void {
    clearTimeout(this.#timer);
    if (document.hidden || this.#address === "") return;
    this.#timer = setTimeout(() => void this.#ask(), ms);
  }

  async #ask(): Promise<void> {
    this.#asking = true;
    const wait = await this.#answer().catch(() => {
      this.#trouble = true;
      tell("problem", "The server does not answer; trying again.");
      return POLL_TROUBLE_MS;
    });
    this.#asking = false;
    const again = this.#again;
    this.#again = false;
    if (wait !== undefined) this.#later(again ? 0 : wait);
  }

  /** Returns milliseconds until the next question; undefined when there is nothing more to ask. */
  async #answer(): Promise<number | undefined> {
    const query = new URLSearchParams({ revision: this.#revision, have: items.versions() });
    const separator = this.#address.includes("?") ? "&" : "?";
    const headers = { accept: "application/json" };
    const response = await fetch(`${this.#address}${separator}${query}`, { headers, cache: "no-store" });
    if (response.status === 401 || response.status === 404) return this.#end(response.status);
    if (!response.ok) throw new Error(response.statusText);
    if (this.#trouble) tell("", "");
    this.#trouble = false;
    if (response.status !== 204) this.#show((await response.json()) as LiveReply);
    return this.#every;
  }

  #show(reply: LiveReply): void {
    this.#revision = reply.revision;
    this.#main.dataset.busy = String(reply.busy);
    items.show(reply);
    localTimes(document);
    const { kind, text } = reply.notice ?? { kind: "", text: "" };
    if (text !== this.#notice) tell(kind, text);
    this.#notice = text;
  }

  #end(status: number): undefined {
    const gone = "This session is gone: it was deleted while the page was open.";
    tell("problem", status === 404 ? gone : "You are no longer logged in; load the page again.");
    document.body.classList.add("ended");
    for (const control of document.querySelectorAll<HTMLButtonElement>("main button, .tools button"))
      control.disabled = true;
    return undefined;
  }
}

/** Shows times as the reader's clock has them. */
function localTimes(root: ParentNode): void {
  for (const time of root.querySelectorAll<HTMLTimeElement>("time:not([title])")) {
    time.title = time.textContent ?? "";
    time.textContent = new Date(time.dateTime).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
  }
}

/** Posts forms of the page without leaving it. */
async function submit(event: SubmitEvent, live: Live): Promise<void> {
  const form = event.target as HTMLFormElement;
  const button = event.submitter as HTMLButtonElement | null;
  if (button?.dataset.confirm !== undefined && !confirm(button.dataset.confirm)) return event.preventDefault();
  if (form.id !== "actions" && form.id !== "new") return;
  event.preventDefault();
  button?.closest("details")?.removeAttribute("open");
  tell("", "");
  const code = form.querySelector("textarea");
  const sent = code?.value ?? "";
  const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>);
  if (code) code.value = "";
  if (code) fit(code);
  const error = await post(button?.getAttribute("formaction") ?? form.action, body, live);
  if (error === undefined) return;
  if (code && code.value === "") code.value = sent;
  if (code) fit(code);
  tell("problem", error);
}

/** Returns why the server refused; undefined when it did not. */
async function post(address: string, body: URLSearchParams, live: Live): Promise<string | undefined> {
  const soon = setTimeout(() => live.now(), 150);
  try {
    const headers = { accept: "application/json" };
    const response = await fetch(address, { method: "POST", body, headers, redirect: "manual" });
    if (response.ok || response.type === "opaqueredirect") return undefined;
    const { error } = (await response.json()) as { error?: string };
    return `${error ?? response.statusText}.`;
  } catch {
    return "The server does not answer; nothing was sent.";
  } finally {
    clearTimeout(soon);
    live.now();
  }
}

/** Grows the editor with its text. */
function fit(area: HTMLTextAreaElement): void {
  area.style.height = "auto";
  area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.6)}px`;
}

function start(): void {
  localTimes(document);
  const main = document.querySelector("main");
  if (!main) return;
  const live = new Live(main, main.dataset.live ?? "");
  document.addEventListener("submit", (event) => void submit(event, live));
  const code = document.querySelector<HTMLTextAreaElement>("#code");
  code?.addEventListener("input", () => fit(code));
  document.addEventListener("keydown", (event) => {
    const run = event.key === "Enter" && (event.ctrlKey || event.metaKey || event.shiftKey);
    if (run && event.target === code && code?.value) {
      event.preventDefault();
      code.form?.requestSubmit();
    }
    if (event.key === "Escape") for (const menu of openMenus()) menu.open = false;
  });
  document.addEventListener("click", (event) => {
    for (const menu of openMenus()) if (!menu.contains(event.target as Node)) menu.open = false;
  });
}

const openMenus = (): NodeListOf<HTMLDetailsElement> => document.querySelectorAll("details.menu[open]");

start();
