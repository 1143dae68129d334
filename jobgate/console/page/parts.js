// Parts that several pages show: verdicts, YAML with causes beside its lines, diffs, tables, errors.

import { h, icon, many } from "./dom.js";
import { Refused } from "./api.js";

/** @typedef {import("./types.js").DiffLine} DiffLine */
/** @typedef {{line?: number, field: string, message: string, level: "denied" | "warned", fix?: string}} Note */

/** Lines shown around a line with a note; the others unfold. */
const CONTEXT = 6;
/** The symbol of each state; colour alone never shows a state. */
const SYMBOLS = /** @type {Record<string, string>} */ ({
  denied: "denied", failed: "denied", error: "denied", warned: "warned", warning: "warned", later: "pending", waiting: "pending",
  pending: "pending", running: "running", unknown: "warned", missing: "pending", suspended: "pending", staged: "pending", "not reviewed": "pending",
});

/** Words for states whose names in the API say less. */
const WORDS = /** @type {Record<string, string>} */ ({ later: "retry" });

/** Return a state as a word with its symbol.
 * @param {string} state
 * @param {string} [word] */
export function badge(state, word = WORDS[state] ?? state) {
  const name = state.toLowerCase();
  return h("span", { class: `badge ${name.replace(/[^a-z]/g, "-")}` }, icon(SYMBOLS[name] ?? "allowed"), word);
}

/** Return counts of pods by phase, with symbols and numbers.
 * @param {Record<string, number>} pods */
export function counts(pods) {
  const known = Object.entries(pods).filter(([, count]) => count);
  return known.length
    ? h("span", { class: "counts" }, ...known.map(([phase, count]) => badge(phase, `${count} ${phase}`)))
    : h("span", { class: "muted" }, "no pods");
}

/** Return the head of a page: its title, what it shows, and who it is for.
 * @param {string} title
 * @param {...import("./dom.js").Child} text */
export function head(title, ...text) {
  return h("div", { class: "head" }, h("h1", {}, title), h("p", { class: "muted" }, ...text));
}

/** Return what signs mean.
 * @param {...[import("./dom.js").Child, string]} entries */
export function legend(...entries) {
  return h("dl", { class: "legend" }, ...entries.map(([sign, meaning]) => h("div", {}, h("dt", {}, sign), h("dd", {}, meaning))));
}

/** @param {string} title
 * @param {...import("./dom.js").Child} children */
export function section(title, ...children) {
  return h("section", { "aria-label": title }, h("h3", {}, title), ...children);
}

/** @param {string} title
 * @param {...import("./dom.js").Child} children */
export function card(title, ...children) {
  return h("section", { class: "card", "aria-label": title }, h("h2", {}, title), ...children);
}

/** Return what is shown instead of content that is not there: what, and what to do.
 * @param {string} title
 * @param {...import("./dom.js").Child} text */
export function empty(title, ...text) {
  return h("div", { class: "empty" }, h("p", {}, h("strong", {}, title)), h("div", { class: "muted" }, ...text));
}

/** Return an error for the user, with a button if trying again may help.
 * @param {unknown} error
 * @param {() => void} [again] */
export function failure(error, again) {
  const message = error instanceof Error ? error.message : String(error);
  const retry = again && !(error instanceof Refused && [400, 403, 404].includes(error.status));
  return h("div", { class: "failure", role: "alert" }, icon("denied"), h("p", {}, message),
    retry && h("button", { type: "button", click: again }, "Try again"));
}

/** Return a table. On a phone each row becomes a block, whose values have their column's name before them.
 * @param {string} label
 * @param {string[]} columns
 * @param {import("./dom.js").Child[][]} rows */
export function table(label, columns, rows) {
  return h("table", { "aria-label": label },
    h("thead", {}, h("tr", {}, ...columns.map((column) => h("th", { scope: "col" }, column)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...row.map((cell, at) =>
      h("td", { "data-column": columns[at] }, h("div", {}, cell)))))));
}

/** Return causes as a list; each leads to its line, if it has one.
 * @param {Note[]} notes
 * @param {(line: number) => void} goto */
export function causes(notes, goto) {
  return h("ul", { class: "causes" }, ...notes.map((note) => {
    const { line } = note;
    return h("li", { class: note.level }, icon(note.level), h("div", {},
      note.field && h("code", {}, note.field), " ", note.message, note.fix && h("span", { class: "muted" }, ` ${note.fix}`)),
    line ? h("button", { type: "button", class: "line", click: () => goto(line) }, `line ${line}`) : null);
  }));
}

/** @param {string} text */
function yamlLine(text) {
  const [, indent = "", key, value = text] = /^(\s*(?:- )*)([\w./-]+|"[^"]*")(:(?: .*)?)$/.exec(text) ?? [];
  return h("code", {}, indent, key && h("span", { class: "key" }, key), value);
}

/** Return YAML with the notes below the lines that they speak of; lines far from notes are folded.
 * @param {string} yaml
 * @param {Note[]} notes */
export function annotated(yaml, notes) {
  const lines = yaml.replace(/\n$/, "").split("\n");
  /** @type {Map<number, Note[]>} */
  const at = new Map();
  for (const note of notes) at.set(note.line ?? 0, [...(at.get(note.line ?? 0) ?? []), note]);
  const near = (/** @type {number} */ line) =>
    !at.size || lines.length < 60 || line <= CONTEXT || [...at.keys()].some((place) => Math.abs(place - line) <= CONTEXT);
  const root = h("div", { class: "code", role: "group", tabindex: 0, "aria-label": "The object as YAML" });
  let folded = /** @type {HTMLElement[]} */ ([]);
  const unfold = () => {
    if (!folded.length) return;
    const rows = folded;
    root.append(h("button", { type: "button", class: "fold", click: (/** @type {Event} */ event) => {
      /** @type {Element} */ (event.currentTarget).replaceWith(...rows);
      root.focus({ preventScroll: true });
    } }, many(rows.length, "more line")));
    folded = [];
  };
  lines.forEach((text, index) => {
    const own = at.get(index + 1);
    const level = own && (own.some((note) => note.level === "denied") ? "denied" : "warned");
    const row = h("div", { class: `row ${level ?? ""}`, "data-line": index + 1 },
      h("span", { class: "number", "aria-hidden": "true" }, index + 1), yamlLine(text));
    if (!near(index + 1)) return void folded.push(row);
    unfold();
    root.append(row, ...(own ?? []).map((note) => h("p", { class: `note ${note.level}` }, icon(note.level), h("span", {}, note.message))));
  });
  unfold();
  return root;
}

/** Bring a line of annotated YAML into view.
 * @param {Element} root
 * @param {number} line */
export function gotoLine(root, line) {
  const row = root.querySelector(`[data-line="${line}"]`);
  row?.scrollIntoView({ block: "center" });
  row?.classList.add("flash");
  setTimeout(() => row?.classList.remove("flash"), 1200);
}

/** Return a patch as a diff.
 * @param {DiffLine[]} lines */
export function diff(lines) {
  const words = /** @type {Record<string, string>} */ ({ "+": "added: ", "-": "removed: " });
  return h("div", { class: "code diff", role: "group", tabindex: 0, "aria-label": "What the patch changes" }, ...lines.map((line) =>
    line.sign === "@" ? h("div", { class: "fold" }, `… ${line.text}`)
      : h("div", { class: `row ${words[line.sign]?.split(":")[0] ?? ""}` },
        h("span", { class: "number", "aria-hidden": "true" }, line.sign),
        words[line.sign] && h("span", { class: "hidden" }, words[line.sign]), yamlLine(line.text))));
}

/** Offer values in a list of choices; what is chosen stays.
 * @param {HTMLSelectElement | HTMLDataListElement} node
 * @param {string} all what stands for every value, or empty
 * @param {string[]} values */
export function renew(node, all, values) {
  const value = node instanceof HTMLSelectElement ? node.value : "", old = [...node.options].map((option) => option.value);
  const wanted = [...new Set([...values, value])].filter(Boolean).sort().slice(0, 200);
  if (old.length && wanted.every((one) => old.includes(one))) return;
  node.replaceChildren(...(all ? [h("option", { value: "" }, all)] : []), ...wanted.map((text) => h("option", { value: text }, text)));
  if (node instanceof HTMLSelectElement) node.value = value;
}
