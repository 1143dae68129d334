// Health: replicas, latency, certificates on a time line, and what the doctor finds.

import { post } from "./api.js";
import { clock, duration, h, many, s, show } from "./dom.js";
import { badge, card, empty, failure, head, table } from "./parts.js";
import { live, poll } from "./poll.js";

/** @typedef {import("./types.js").Health} Health */

/** Milliseconds between two looks. */
const PERIOD = 5000;
const DAY = 86400e3;
/** What the states of reading a server's reviews mean. */
const READING = /** @type {Record<string, string>} */ ({ streaming: "shown in Now", off: "not kept", forbidden: "not permitted" });
/** What has been reached with each stage of a rotation. */
const STAGES = /** @type {Record<string, string>} */ ({
  trusted: "API servers trust the new one", promoted: "servers are to use it", verified: "all servers use it",
});

/** @param {HTMLElement} main */
export function open(main) {
  const look = h("div", { class: "cards" }), found = h("div"), stop = new AbortController();
  let last = "";
  const draw = (/** @type {Health} */ health) => {
    // Drawn again only if more than the time has changed: a reader's selection stays.
    const text = JSON.stringify({ ...health, time: "" });
    if (text !== last) show(look, ...cards(health));
    last = text;
  };
  const doctor = async () => {
    button.disabled = true;
    show(found, h("p", { class: "muted", role: "status" }, "Looking at the installation…"));
    try {
      show(found, ...findings(await post("/api/doctor", {}, stop.signal)));
    } catch (error) {
      if (!stop.signal.aborted) show(found, failure(error, doctor));
    }
    button.disabled = false;
  };
  const button = h("button", { type: "button", class: "primary", id: "doctor", click: doctor }, "Run the doctor");
  show(main, head("Health of the installation", "Whether the servers answer, how fast, and how long their certificate is valid. For operators of jobgate."), look, card("Doctor: what is wrong, and how to fix it",
    h("p", { class: "muted" }, "Compares the installation with what it should be, as ", h("code", {}, "jobgate doctor"), " does. It only reads."), button, found));
  const polled = poll(PERIOD, () => "/api/health", draw, (error) => {
    live(error);
    if (error) show(look, failure(error, () => polled.now()));
    last = "";
  });
  return { update() {}, close() { polled.stop(); stop.abort(); } };
}

/** @param {Health} health */
function cards(health) {
  const { replicas, latency, certificates, problems } = health;
  const gone = (/** @type {string} */ what) => h("p", { class: "muted" }, `${what} cannot be read${problems.length ? ": see the problems above" : ""}.`);
  return [
    problems.length > 0 && card(many(problems.length, "problem"), h("ul", { class: "why" }, ...problems.map((text) => h("li", {}, badge("warned", ""), text)))),
    card("Servers: one row for each replica of the webhook", replicas ? replicas.length ? servers(replicas) : empty("No server runs.", "Run the doctor below, or look at the pods: ", h("code", {}, `kubectl get pods --namespace ${health.namespace}`)) : gone("Servers")),
    card("Latency: how long reviews took, since the servers started", latency ? histogram(latency) : gone("Latencies")),
    card("Certificate: how long it is valid, and how far its rotation is", certificates ? rotation(certificates, Date.parse(health.time)) : gone("Certificates")),
  ];
}

/** @param {import("./types.js").Replica[]} replicas */
function servers(replicas) {
  return table("Servers", ["Server", "State", "Requests", "Its reviews", "Age of caches", "Certificate"], replicas.map((one) => [
    h("div", {}, h("strong", {}, one.name), h("p", { class: "muted" }, `${one.node || "no node"}${one.started ? `, up ${duration((Date.now() - Date.parse(one.started)) / 1000)}` : ""}, ${many(one.restarts, "restart")}`)),
    one.ready ? badge("ready") : badge("pending", `${one.phase}, not ready`),
    one.requests === null ? "unknown" : h("div", {}, one.requests.toLocaleString("en"), h("p", { class: "muted" }, `${one.inFlight ?? "?"} in flight, ${one.connections ?? "?"} connections`)),
    h("div", {}, badge(one.reviews.state === "streaming" ? "ready" : "warned", READING[one.reviews.state] ?? one.reviews.state), one.reviews.message && h("p", { class: "muted" }, one.reviews.message)),
    h("div", {}, ...one.caches.map((cache) => h("p", { title: cache.resource }, `${cache.resource.split(".")[0]}: ${cache.ageSeconds === null ? "never read" : `${duration(cache.ageSeconds)} old`}`, cache.unkept > 0 && `, ${cache.unkept} not kept`))),
    one.certificateGeneration === null ? "unknown" : `generation ${one.certificateGeneration}`]));
}

/** @param {number | null} le */
const bound = (le) => le === null ? "more" : le < 1 ? `${+(le * 1000).toPrecision(3)} ms` : `${le} s`;

/** @param {import("./types.js").Latency} latency */
function histogram({ count, sumSeconds, buckets }) {
  if (!count) return h("p", { class: "muted" }, "No reviews yet: this fills when someone creates or changes a job.");
  const parts = buckets.map((bucket, at) => ({ le: bucket.le, count: bucket.count - (buckets[at - 1]?.count ?? 0) }));
  const first = parts.findIndex((part) => part.count), last = parts.findLastIndex((part) => part.count);
  const shown = parts.slice(Math.max(0, first - 1), last + 2), top = Math.max(...shown.map((part) => part.count));
  const quantile = (/** @type {number} */ share) => bound(buckets.find((bucket) => bucket.count >= count * share)?.le ?? null);
  return h("div", {}, h("p", { class: "figures" }, ...[["median", quantile(.5)], ["99th percentile", quantile(.99)], ["mean", bound(sumSeconds / count)], ["reviews", count.toLocaleString("en")]].map(([name, value]) =>
    h("span", {}, h("strong", {}, `${name === "median" || name === "99th percentile" ? "≤ " : ""}${value}`), h("span", { class: "muted" }, ` ${name}`)))),
  h("ol", { class: "histogram", "aria-label": "Reviews by time" }, ...shown.map((part) => h("li", {},
    h("span", { class: "muted" }, part.count.toLocaleString("en")), h("div", { css: { height: `${Math.max(1, part.count / top * 90)}px` } }), h("span", {}, `${part.le === null ? "" : "≤ "}${bound(part.le)}`)))));
}

/** @param {import("./types.js").Certificates} all
 * @param {number} now */
function rotation(all, now) {
  const dated = all.generations.map((one) => ({ ...one, from: Date.parse(one.notBefore ?? ""), to: Date.parse(one.notAfter ?? "") })).filter((one) => one.from <= one.to);
  const from = Math.min(now, ...dated.map((one) => one.from)) - DAY, to = Math.max(now, ...dated.map((one) => one.to)) + DAY;
  const width = Math.max(300, Math.min(760, innerWidth - 64)), row = 30, low = dated.length * row + 34, renewal = Date.parse(all.renewal ?? "");
  const x = (/** @type {number} */ time) => (time - from) / (to - from) * width;
  const day = (/** @type {number} */ time) => new Date(time).toISOString().slice(0, 10);
  const mark = (/** @type {number} */ time, /** @type {string} */ text, /** @type {string} */ css, /** @type {number} */ y) => s("g", { class: css },
    s("path", { d: `M${x(time)} 16V${low - 14}` }), s("text", { x: x(time), y, "text-anchor": x(time) > width - 60 ? "end" : x(time) < 60 ? "start" : "middle" }, text));
  // The promotion of a generation removes the time of `trusted`.
  const reached = all.stages.findLastIndex((stage) => stage.time);
  return h("div", {},
    h("p", {}, all.generation === null ? "No certificate is served." : `Generation ${all.generation} is served${all.staged ? `; ${all.staged} is staged to replace it` : renewal ? `, and renewed on ${day(renewal)}` : ""}.`),
    h("ol", { class: "stages", "aria-label": "Stages of the last rotation" }, ...all.stages.map((stage, at) => h("li", { class: at <= reached ? "done" : "" }, h("strong", {}, stage.name), h("span", {}, STAGES[stage.name]), h("span", { class: "muted" }, stage.time ? clock(Date.parse(stage.time) / 1000) : at <= reached ? "done" : "not yet")))),
    h("div", { class: "scroll", role: "group", tabindex: 0, "aria-label": "Time line of the certificates" }, s("svg", { class: "timeline", width, height: low + 6, role: "img", "aria-label": dated.map((one) => `generation ${one.number}, ${one.state}, from ${day(one.from)} to ${day(one.to)}`).join("; ") || "no certificate" },
      ...dated.map((one, at) => s("g", { class: `generation ${one.state}` },
        s("rect", { x: x(one.from), y: 20 + at * row, width: Math.max(4, x(one.to) - x(one.from)), height: 22, rx: 4 }),
        s("text", { x: Math.min(x(one.from) + 8, width - 170), y: 35 + at * row }, `${one.number} ${one.state}, until ${day(one.to)}`))),
      mark(now, "now", "today", 11), renewal > 0 && mark(renewal, `renewal ${day(renewal)}`, "renewal", low))),
    all.problems.length > 0 && h("ul", { class: "why" }, ...all.problems.map((text) => h("li", {}, badge("warned", ""), text))));
}

/** @param {import("./types.js").Doctor} doctor */
function findings(doctor) {
  return [
    h("p", { role: "status" }, doctor.findings.length ? h("strong", {}, many(doctor.findings.length, "finding")) : badge("ready", "Nothing is wrong.")),
    doctor.findings.length > 0 && table("Findings", ["Finding", "Where", "To do"], doctor.findings.map((one) => [
      h("div", {}, badge(one.severity, one.id), h("p", {}, one.what)), one.where, one.fix])),
    ...doctor.notChecked.map((one) => h("p", { class: "muted" }, `Not checked: ${one.what} (${one.why}).`)),
  ];
}
