// Try: YAML of any kind; the verdict, what would be changed, and what each pod will be, as one types.

import { post, Refused } from "./api.js";
import { complete } from "./complete.js";
import { announce, h, many, show } from "./dom.js";
import { badge, causes, diff, empty, failure, head, section, table } from "./parts.js";
import * as cm from "./vendor/editor.js";

/** @typedef {import("./types.js").Trial} Trial */

/** Milliseconds without a key until the text is reviewed, and the key of the text that a reader comes back to. */
const WAIT = 300, KEPT = "jobgate-try";
const EXAMPLE = `apiVersion: diengine.opendilab.org/v2alpha1
kind: DIJob
metadata:
  name: example
spec:
  minAvailable: 3
  tasks:
  - name: learner
    type: learner
    replicas: 0
    template:
      spec:
        containers:
        - name: main
          image: registry.example.com/ding:v1
          command: [python, train.py]
`;

const LOOK = cm.EditorView.theme({
  "&": { height: "100%", backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "13px" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.55" },
  ".cm-gutters": { backgroundColor: "var(--raised)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--accent) 7%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" }, ".cm-specialChar": { color: "var(--bad)" },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "6px", maxWidth: "460px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "light-dark(#fff, #0e1318)" },
  ".cm-completionDetail": { color: "inherit", fontStyle: "normal" }, ".cm-diagnostic": { whiteSpace: "pre-wrap" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 26%, transparent)" },
});
const COLOURS = cm.HighlightStyle.define([
  { tag: [cm.tags.definition(cm.tags.propertyName), cm.tags.propertyName], color: "var(--accent)" },
  { tag: cm.tags.comment, color: "var(--muted)" }, { tag: [cm.tags.string, cm.tags.special(cm.tags.string)], color: "var(--good)" },
  { tag: [cm.tags.keyword, cm.tags.typeName, cm.tags.labelName], color: "var(--warn)" },
]);

/** @param {HTMLElement} main */
export function open(main) {
  let timer = 0, asked = new AbortController(), spoken = "";
  const host = h("div", { class: "editor" }), results = h("div", { class: "results", role: "region", "aria-label": "Result", tabindex: 0 });
  const namespace = h("input", { id: "namespace", value: "default", input: () => soon() });
  const file = h("input", { type: "file", accept: ".yaml,.yml,.json", class: "hidden", tabindex: -1, "aria-label": "File", change: async () => {
    const [first] = file.files ?? [];
    file.value = ""; // the same file can be opened again
    if (first) insert(await first.text());
  } });
  const insert = (/** @type {string} */ text) => {
    view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    view.focus();
  };
  const goto = (/** @type {number} */ line) => {
    const at = view.state.doc.line(Math.min(line, view.state.doc.lines));
    view.dispatch({ selection: { anchor: at.from + (/\S/.exec(at.text)?.index ?? 0) }, effects: cm.EditorView.scrollIntoView(at.from, { y: "center" }) });
    view.focus();
  };
  const soon = () => { clearTimeout(timer); timer = setTimeout(review, WAIT); };
  const review = async () => {
    asked.abort();
    asked = new AbortController();
    const { signal } = asked, text = view.state.doc.toString();
    // A text that is too large to be kept is still reviewed; one from before must not come back in its place.
    try { sessionStorage.setItem(KEPT, text); } catch { sessionStorage.removeItem(KEPT); }
    if (!text.trim()) {
      view.dispatch(cm.setDiagnostics(view.state, []));
      return show(results, empty("What would jobgate say?", h("p", {}, "Type or paste YAML into the editor, or drop a file on it: the verdict appears here."),
        h("button", { type: "button", id: "example", click: () => insert(EXAMPLE) }, "Insert an example")));
    }
    try {
      const trial = await post("/api/try", { yaml: text, namespace: namespace.value }, signal);
      if (signal.aborted) return;
      view.dispatch(cm.setDiagnostics(view.state, marks(trial, view.state.doc)));
      show(results, ...outcome(trial, goto));
      const said = trial.objects.map((/** @type {{name: string, verdict: string}} */ one) => `${one.name} ${one.verdict}`).join(", ");
      if (said !== spoken) announce(spoken = said);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Refused && error.status === 429) return soon();
      show(results, failure(error, review));
    }
  };
  show(main, head("Try a job", "What jobgate would answer, and what each pod would be, while you type. For authors of jobs: nothing is stored."), h("div", { class: "pane" },
    h("div", { class: "filters" }, h("label", { class: "field" }, "Namespace", namespace), h("button", { type: "button", click: () => file.click() }, "Open a file"), file,
      h("button", { type: "button", click: () => insert("") }, "Clear"), h("span", { class: "muted wide" }, h("kbd", {}, "Ctrl Space"), " completes")), host), results);
  // In a shadow root the editor's styles are adopted sheets, which the content security policy permits.
  const root = host.attachShadow({ mode: "open" });
  const view = new cm.EditorView({ root, parent: root, doc: sessionStorage.getItem(KEPT) ?? "", extensions: [
    cm.lineNumbers(), cm.lintGutter(), cm.history(), cm.drawSelection(), cm.highlightActiveLine(), cm.highlightActiveLineGutter(), cm.highlightSpecialChars(),
    cm.indentUnit.of("  "), cm.indentOnInput(), cm.closeBrackets(), cm.yaml(), cm.syntaxHighlighting(COLOURS), LOOK,
    cm.autocompletion({ override: [complete], icons: false }), cm.keymap.of([...cm.completionKeymap, ...cm.lintKeymap, ...cm.historyKeymap, ...cm.defaultKeymap]),
    cm.EditorView.contentAttributes.of({ "aria-label": "YAML to try", tabindex: "0" }), cm.EditorView.updateListener.of((update) => { if (update.docChanged) soon(); }),
  ] });
  review();
  return { update() {}, close() { clearTimeout(timer); asked.abort(); view.destroy(); } };
}

/** @param {Trial} trial
 * @param {import("./vendor/editor.js").Text} doc
 * @returns {import("./vendor/editor.js").Diagnostic[]} */
function marks(trial, doc) {
  const found = trial.objects.flatMap((one) => one.findings.map((finding) => ({ ...finding, line: finding.line || one.line })));
  return [...trial.errors.map((error) => ({ ...error, severity: "error" })), ...found].map(({ line, column, message, severity }) => {
    const { from, to } = doc.line(Math.max(1, Math.min(line, doc.lines)));
    const start = Math.min(from + Math.max(0, column - 1), to);
    return { from: start, to, message, severity: /** @type {"error" | "warning"} */ (severity === "error" ? "error" : "warning") };
  }).sort((a, b) => a.from - b.from);
}

/** @param {Trial} trial
 * @param {(line: number) => void} goto */
function outcome(trial, goto) {
  const errors = trial.errors.map((error) => ({ ...error, field: "", level: /** @type {const} */ ("denied") }));
  return [
    ...(errors.length ? [section("The text cannot be read", causes(errors, goto))] : []),
    ...trial.objects.map((one) => h("article", { "aria-label": `${one.kind} ${one.name}` },
      h("h2", {}, badge(one.verdict), " ", one.kind, " ", one.name),
      one.findings.length > 0 && causes(one.findings.map((finding) => ({ ...finding, line: finding.line || one.line, field: finding.path, level: finding.severity === "error" ? "denied" : "warned" })), goto),
      one.verdict === "not reviewed" && h("p", { class: "muted" }, "jobgate has no rules for this kind."),
      one.explanation && pods(one.explanation), one.diff && section("Defaults that would be added", diff(one.diff)))),
    ...trial.notes.map((note) => h("p", { class: "muted" }, note)),
    h("p", { class: "muted" }, `Reviewed in ${trial.milliseconds.toFixed(1)} ms, as `, h("code", {}, "jobgate review"), " would."),
  ];
}

/** @param {import("./types.js").Explanation} explanation */
function pods({ pods: plans, beside, notes }) {
  return section("What each pod will be",
    ...plans.map((plan, at) => h("details", { open: at === 0 }, h("summary", {}, h("strong", {}, plan.task), ` ${many(plan.count, "pod")}, such as `, h("code", {}, plan.name)),
      table(`Pods of ${plan.task}`, ["Where", "Field", "Value", "From"], plan.parts.map((part) => [part.container || "pod", part.field, h("code", {}, part.text), h("span", { class: "tag" }, part.source)])),
      ...plan.notes.map((note) => h("p", { class: "muted" }, note)))),
    beside.length > 0 && h("p", {}, "Beside them: ", ...beside.flatMap((one, at) => [at > 0 && ", ", h("strong", {}, one.text), h("span", { class: "muted" }, ` (${one.source})`)])),
    ...notes.map((note) => h("p", { class: "muted" }, note)));
}
