// Rules: which deny or warn most, where; and what an audit says of stored jobs.

import { post } from "./api.js";
import { h, many, show } from "./dom.js";
import { bar } from "./graph.js";
import { badge, card, empty, failure, head, table } from "./parts.js";
import { follow, store } from "./reviews.js";

/** Findings of stored jobs and rules that are shown, and milliseconds until rules are counted again. */
const ROWS = 500, RULES = 200, PERIOD = 5000;

/** Return a time with its date.
 * @param {string} time */
const dated = (time) => new Date(time).toLocaleString("sv");

/** @typedef {{rule: string, denied: number, warned: number, kinds: Map<string, number>, namespaces: Map<string, number>,
 *   last: import("./types.js").Review, example: string}} Rule */

/** Return how often each rule denied and warned, the most frequent first. A rule counts once in a review.
 * @param {import("./types.js").Review[]} reviews the newest first */
function count(reviews) {
  /** @type {Map<string, Rule>} */
  const rules = new Map();
  const more = (/** @type {Map<string, number>} */ counts, /** @type {string} */ name) => counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const review of reviews) {
    const denying = new Set(review.causes.map((cause) => cause.rule));
    for (const { rule: name, field, message } of new Map([...review.warnings, ...review.causes].map((cause) => [cause.rule, cause])).values()) {
      const rule = rules.get(name) ?? { rule: name, denied: 0, warned: 0, kinds: new Map(), namespaces: new Map(), last: review, example: [field, message].filter(Boolean).join(": ") };
      rules.set(name, rule);
      rule[denying.has(name) ? "denied" : "warned"] += 1;
      more(rule.kinds, review.kind);
      more(rule.namespaces, review.namespace);
    }
  }
  return [...rules.values()].sort((a, b) => b.denied - a.denied || b.warned - a.warned).slice(0, RULES);
}

/** @param {Map<string, number>} counts */
function most(counts) {
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return h("span", {}, ...sorted.slice(0, 4).map(([name, count]) => h("span", { class: "tag" }, `${name} ${count}`)),
    sorted.length > 4 && h("span", { class: "muted" }, ` +${sorted.length - 4}`));
}

/** @param {HTMLElement} main */
export function open(main) {
  const counted = h("div"), audited = h("div"), stop = new AbortController();
  let timer = 0;
  const draw = () => {
    timer = counted.querySelector("table")?.contains(document.activeElement) ? setTimeout(draw, PERIOD) : 0;
    if (timer) return;
    const { reviews } = store, rules = count(reviews), top = Math.max(1, ...rules.map((rule) => rule.denied + rule.warned)), [oldest] = reviews.slice(-1);
    if (!store.loaded) return show(counted, store.error ? failure(store.error, () => polled.now()) : h("p", { class: "muted" }, "Loading…"));
    show(counted, store.error !== null && failure(store.error, () => polled.now()),
      h("p", { class: "muted" }, `Counted from ${many(reviews.length, "review")} that the servers keep${oldest ? `, since ${dated(oldest.time)}` : ""}, the most denials first. Select a rule to see its reviews.`),
      rules.length ? table("Rules", ["Rule", "Denials and warnings", "Kinds", "Namespaces", "Last"], rules.map((rule) => [
        h("div", { class: "rule" }, h("a", { href: `#/now?${new URLSearchParams({ rule: rule.rule })}` }, rule.rule), h("p", { class: "muted" }, rule.example)),
        h("div", { class: "share" }, h("div", { css: { width: `${(rule.denied + rule.warned) / top * 100}%` } }, bar({ denied: rule.denied, warned: rule.warned })),
          h("span", { class: "counts" }, rule.denied > 0 && badge("denied", many(rule.denied, "denial")), rule.warned > 0 && badge("warned", many(rule.warned, "warning")))),
        most(rule.kinds), most(rule.namespaces), h("a", { class: "time", href: `#/now/${rule.last.id}` }, dated(rule.last.time))]))
        : empty("No rule has denied or warned.", reviews.length ? "The next job that a rule denies or warns about is counted here." : h("span", {}, "There are no reviews to count: ", h("a", { href: "#/now" }, "Now"), " says what is needed.")));
  };
  const audit = async () => {
    button.disabled = true;
    show(audited, h("p", { class: "muted", role: "status" }, "Reviewing all stored jobs…"));
    try {
      show(audited, ...findings(await post("/api/audit", {}, stop.signal)));
    } catch (error) {
      if (!stop.signal.aborted) show(audited, failure(error, audit));
    }
    button.disabled = false;
  };
  const button = h("button", { type: "button", class: "primary", id: "audit", click: audit }, "Review stored jobs");
  show(main, head("Rules that deny or warn", "What users get wrong most often, and where. For operators, who decide what to explain and when to enforce a rule."),
    card("In reviews", counted),
    card("In stored jobs", h("p", { class: "muted" }, "Which jobs would be denied if they were created today. They keep running: a fault that a stored job already has is only a warning when it is changed. This only reads."), button, audited));
  // Not drawn again with each review: a reader's selection stays for a while, and the focus as long as it is in the table.
  const polled = follow(() => { if (!counted.querySelector("table")) draw(); else timer ||= setTimeout(draw, PERIOD); });
  return { update() {}, close() { clearTimeout(timer); polled.stop(); stop.abort(); } };
}

/** @param {import("./types.js").Audit} audit */
function findings(audit) {
  const rows = audit.jobs.flatMap((job) => [...job.faults.map((fault) => ({ job, fault, level: "denied" })), ...job.warnings.map((message) => ({ job, fault: { rule: "", field: "", message }, level: "warned" }))]);
  return [
    h("p", { role: "status" }, h("strong", {}, `${many(audit.reviewed, "job")} reviewed; ${audit.denied} would be denied.`), audit.left > 0 && ` ${many(audit.left, "more job")} with findings not shown.`),
    rows.length > ROWS && h("p", { class: "muted" }, `The first ${ROWS} of ${many(rows.length, "finding")}:`),
    rows.length > 0 && table("Stored jobs with findings", ["Job", "Verdict", "Rule", "Finding"], rows.slice(0, ROWS).map(({ job, fault, level }) => [
      h("a", { href: `#/jobs/${job.kind}/${job.namespace}/${job.name}` }, `${job.namespace}/${job.name}`), badge(level), fault.rule, h("span", {}, h("code", {}, fault.field), " ", fault.message)])),
    ...audit.notListed.map((one) => h("p", { class: "muted" }, `Not listed: ${one.what} (${one.why}).`)),
    audit.notInstalled.length > 0 && h("p", { class: "muted" }, `Not installed: ${audit.notInstalled.join(", ")}.`),
  ];
}
