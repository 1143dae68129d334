// The frame of the console: routes, theme, shortcuts, and the form for a token.

import { takeToken, useToken } from "./api.js";
import { h, icon, show, visible } from "./dom.js";
import { failure } from "./parts.js";
import { poll } from "./poll.js";

/** @typedef {{page: string, path: string[], query: URLSearchParams}} Route */
/** @typedef {{update(route: Route): void, close(): void}} Page */

/** @type {Record<string, () => Promise<{open(main: HTMLElement, route: Route): Page}>>} */
const PAGES = {
  now: () => import("./now.js"),
  jobs: () => import("./jobs.js"),
  rules: () => import("./rules.js"),
  health: () => import("./health.js"),
  try: () => import("./try.js"),
};
const NAMES = Object.keys(PAGES);
const KEYS = [
  ...NAMES.map((name, at) => [String(at + 1), `Page ${name[0]?.toUpperCase()}${name.slice(1)}`]),
  ["/", "Search"], ["↑ ↓ or j k", "Move in a list"], ["Enter", "Open"], ["Escape", "Close what is open"],
  ["Ctrl Space", "Complete, in the editor"], ["t", "Dark or light"], ["?", "This help"],
];

const byId = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const main = byId("main"), live = byId("live"), themes = byId("theme"), dark = matchMedia("(prefers-color-scheme: dark)");
/** @type {{name: string, page: Page} | null} */
let current = null;
let opening = 0;

/** @returns {Route} */
function parse() {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
  return { page: NAMES.includes(page) ? page : "now", path: rest.filter(Boolean), query: new URLSearchParams(query) };
}

async function go() {
  const route = parse(), turn = ++opening;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.getAttribute("href") === `#/${route.page}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  if (current?.name === route.page) return current.page.update(route);
  current?.page.close();
  current = null;
  try {
    const { open } = await /** @type {() => ReturnType<NonNullable<typeof PAGES[string]>>} */ (PAGES[route.page])();
    if (turn !== opening) return;
    main.className = route.page;
    live.className = "live";
    live.textContent = "";
    document.title = `${route.page[0]?.toUpperCase()}${route.page.slice(1)} · jobgate`;
    current = { name: route.page, page: open(main, parse()) };
  } catch (error) {
    show(main, failure(error, () => location.reload()));
    throw error;
  }
}

/** Whether dark colours are shown. */
const isDark = () => (document.documentElement.style.colorScheme || (dark.matches ? "dark" : "light")) === "dark";

/** @param {boolean} [change] */
function theme(change) {
  if (change) localStorage.setItem("jobgate-theme", document.documentElement.style.colorScheme = isDark() ? "light" : "dark");
  show(themes, icon("moon"));
  themes.setAttribute("aria-pressed", String(isDark()));
}

const dialog = h("dialog", { "aria-labelledby": "keys-title" },
  h("h2", { id: "keys-title" }, "Keyboard shortcuts"),
  h("dl", {}, ...KEYS.flatMap(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)])),
  h("label", {}, h("input", { type: "checkbox", id: "single", checked: localStorage.getItem("jobgate-keys") !== "off",
    change: (/** @type {Event} */ event) => localStorage.setItem("jobgate-keys", /** @type {HTMLInputElement} */ (event.target).checked ? "on" : "off") }),
  " Single keys are shortcuts"),
  h("form", { method: "dialog" }, h("button", {}, "Close")));
document.body.append(dialog);

addEventListener("keydown", (event) => {
  const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
  if (event.key === "Escape" && !dialog.open) {
    if (target.matches?.("input, select")) target.blur();
    else /** @type {HTMLElement | null} */ (document.querySelector("aside .close"))?.click();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || dialog.open || localStorage.getItem("jobgate-keys") === "off") return;
  if (target.isContentEditable || target.matches?.("input:not([type=checkbox]), select, textarea")) return;
  const page = NAMES[Number(event.key) - 1];
  if (page) location.hash = `#/${page}`;
  else if (event.key === "/") document.getElementById("search")?.focus();
  else if (event.key === "t") theme(true);
  else if (event.key === "?") dialog.showModal();
  else return;
  event.preventDefault();
});

addEventListener("live", (event) => {
  const error = /** @type {CustomEvent} */ (event).detail;
  live.className = `live ${error ? "off" : "on"}`;
  live.textContent = error ? "Reconnecting…" : "Live";
});

addEventListener("unauthorized", (event) => {
  if (document.getElementById("token")) return;
  const input = h("input", { id: "token", type: "password", autocomplete: "off", required: true, size: 50 });
  current?.page.close();
  current = null;
  main.className = "";
  show(main, h("form", { class: "token", submit: (/** @type {Event} */ submitted) => {
    submitted.preventDefault();
    useToken(input.value);
    location.reload();
  } }, h("h1", {}, "Token needed"), h("p", {}, /** @type {CustomEvent} */ (event).detail),
  h("p", { class: "muted" }, "On your machine, open the address that ", h("code", {}, "jobgate console"), " prints. In a cluster, paste the output of ",
    h("code", {}, "kubectl create token SERVICEACCOUNT"), ": you see what this account may see."),
  h("label", { for: "token" }, "Token"), input, h("button", { class: "primary" }, "Show the console")));
  input.focus();
});

themes.addEventListener("click", () => theme(true));
dark.addEventListener("change", () => theme());
byId("help").addEventListener("click", () => dialog.showModal());
document.querySelector(".skip")?.addEventListener("click", (event) => { event.preventDefault(); main.focus(); });
addEventListener("hashchange", () => takeToken() ? location.reload() : go());

takeToken();
theme();
go();
const problems = h("div", { class: "part" });
main.before(problems);
poll(10000, () => "/api/about", (/** @type {import("./types.js").About} */ about) => {
  show(byId("cluster"), about.cluster);
  byId("cluster").title = visible(`jobgate ${about.version}`);
  show(problems, ...about.problems.map((problem) => h("p", { class: "banner" }, icon("warned"), problem)));
}, () => {});
