// Rules: which deny or warn most, where; and what an audit says of stored jobs.

import { post } from "./api.js";
import { h, many, show } from "./dom.js";
import { bar } from "./graph.js";
import { badge, card, empty, failure, head, table } from "./parts.js";
import { live, poll } from "./poll.js";

/** Findings of stored jobs that are shown, and milliseconds until rules are counted again. */
const ROWS = 500, PERIOD = 10000;

/** Return a time with its date.
 * @param {string} time */
const dated = (time) => new Date(time).toLocaleString("sv");

/** @param {Record<string, number>} counts */
function most(counts) {
  const sorted = Object.entries(counts).sort(([, a], [, b]) => b - a);
  return h("span", {}, ...sorted.slice(0, 4).map(([name, count]) => h("span", { class: "tag" }, `${name} ${count}`)),
    sorted.length > 4 && h("span", { class: "muted" }, ` +${sorted.length - 4}`));
}

/** @param {HTMLElement} main */
export function open(main) {
  const counted = h("div"), audited = h("div"), stop = new AbortController();
  const draw = (/** @type {import("./types.js").Rules} */ { since, reviews, rules }) => {
    const top = Math.max(1, ...rules.map((rule) => rule.denied + rule.warned));
    show(counted, h("p", { class: "muted" }, `Counted from ${many(reviews, "review")} that the servers keep${since ? `, since ${dated(since)}` : ""}, the most denials first. Select a rule to see its reviews.`),
      rules.length ? table("Rules", ["Rule", "Denials and warnings", "Kinds", "Namespaces", "Last"], [...rules].sort((a, b) => b.denied - a.denied || b.warned - a.warned).map((rule) => [
        h("div", { class: "rule" }, h("a", { href: `#/now?${new URLSearchParams({ rule: rule.rule })}` }, rule.rule), h("p", { class: "muted" }, rule.example)),
        h("div", { class: "share" }, h("div", { css: { width: `${(rule.denied + rule.warned) / top * 100}%` } }, bar({ denied: rule.denied, warned: rule.warned })),
          h("span", { class: "counts" }, rule.denied > 0 && badge("denied", many(rule.denied, "denial")), rule.warned > 0 && badge("warned", many(rule.warned, "warning")))),
        most(rule.kinds), most(rule.namespaces), h("a", { class: "time", href: `#/now/${rule.lastReview}` }, dated(rule.last))]))
        : empty("No rule has denied or warned.", reviews ? "The next job that a rule denies or warns about is counted here." : h("span", {}, "There are no reviews to count: ", h("a", { href: "#/now" }, "Now"), " says what is needed.")));
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
  const polled = poll(PERIOD, () => "/api/rules", draw, (error) => {
    live(error);
    if (error) show(counted, failure(error, () => polled.now()));
  });
  return { update() {}, close() { polled.stop(); stop.abort(); } };
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
