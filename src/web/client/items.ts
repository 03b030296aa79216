import type { LiveReply } from "../live.ts";

export type { LiveReply };

const FOCUSABLE = "a,button,summary,[tabindex]";

/** Distance from the end within which a reader follows what is printed. */
const NEAR_PX = 120;

/** @returns What the page has, as `key:version` pairs. */
function versions(): string {
  return children()
    .map(({ dataset }) => `${dataset.key}:${dataset.version}`)
    .join(",");
}

const list = (): HTMLElement | null => document.getElementById("items");
const children = (): HTMLElement[] => [...(list()?.children ?? [])] as HTMLElement[];

/** Makes the page show what the server sent, and leaves alone what has not changed. */
function show(reply: LiveReply): void {
  const place = list();
  if (!place) return;
  const follow = reply.busy && innerHeight + scrollY > document.documentElement.scrollHeight - NEAR_PX;
  const present = new Map(children().map((child) => [child.dataset.key, child]));
  let before: Element | null = place.firstElementChild;
  for (const { key, version, html } of reply.items) {
    const child = present.get(key) ?? newChild(place, key);
    present.delete(key);
    if (html !== undefined) replaceContent(child, html);
    child.dataset.version = version;
    if (child !== before) place.insertBefore(child, before);
    before = child.nextElementSibling;
  }
  for (const child of present.values()) child.remove();
  showFacts(reply);
  if (follow) scrollTo(0, document.documentElement.scrollHeight);
}

function newChild(place: HTMLElement, key: string): HTMLElement {
  const child = document.createElement(place.tagName === "UL" ? "li" : "div");
  child.dataset.key = key;
  return child;
}

/** Keeps what the reader did: folded errors, where texts are scrolled to, and the focus. */
function replaceContent(child: HTMLElement, html: string): void {
  const scrolls = [...child.querySelectorAll("pre,.table")].map((box) => ({
    left: box.scrollLeft,
    top: box.scrollTop,
    atEnd: box.scrollHeight > box.clientHeight && box.scrollTop + box.clientHeight > box.scrollHeight - 8,
  }));
  const open = [...child.querySelectorAll("details")].map((details) => details.open);
  const focus = [...child.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement as Element);
  child.innerHTML = html;
  for (const [at, box] of [...child.querySelectorAll("pre,.table")].entries()) {
    const was = scrolls[at];
    if (was) box.scrollTo(was.left, was.atEnd ? box.scrollHeight : was.top);
    else if (child.querySelector("[data-status=running]")) box.scrollTop = box.scrollHeight;
  }
  for (const [at, details] of [...child.querySelectorAll("details")].entries()) details.open = open[at] ?? false;
  if (focus >= 0) (child.querySelectorAll(FOCUSABLE)[focus] as HTMLElement | undefined)?.focus({ preventScroll: true });
}

function showFacts({ busy, total, facts }: LiveReply): void {
  const place = document.getElementById("facts");
  if (place && facts !== undefined) place.outerHTML = facts;
  const empty = document.getElementById("empty");
  if (empty) empty.hidden = total > 0;
  const interrupt = document.getElementById("interrupt") as HTMLButtonElement | null;
  if (interrupt) interrupt.disabled = !busy;
  const next = document.querySelector("#new .number");
  if (next) next.textContent = `[${total + 1}]`;
}

export const items = { versions, show };
