// Jobs: each job as a graph of its tasks, with its objects, its Events, and why it waits; live.

import { clock, duration, h, icon, many, show } from "./dom.js";
import { graph } from "./graph.js";
import { List } from "./list.js";
import { closer, fold } from "./now.js";
import { badge, counts, empty, failure, head, renew, section, table } from "./parts.js";
import { live, poll } from "./poll.js";

/** @typedef {import("./types.js").Job} Job */
/** @typedef {import("./types.js").WholeJob} WholeJob */

/** Milliseconds until the list and until an open job are asked for again, and without a key until a filter counts. */
const PERIOD = 2000, JOB_PERIOD = 1000, TYPING = 200;
/** The state that stands for a phase of any kind's operator.
 * @type {[RegExp, string][]} */
const STATES = [[/fail|abort|error/i, "failed"], [/succe|^complete/i, "succeeded"], [/run/i, "running"], [/./, "pending"]];

/** @param {Job} job */
function phase(job) {
  const word = job.phase || (job.suspended ? "Suspended" : "Not started"), waiting = job.pods.Pending ?? 0;
  const state = STATES.find(([pattern]) => pattern.test(word))?.[1] ?? "pending";
  return badge(state, state === "running" && waiting ? `${word}, ${waiting} wait${waiting === 1 ? "s" : ""}` : word);
}

/** @param {{plural: string, namespace: string, name: string}} job */
const key = (job) => `${job.plural}/${job.namespace}/${job.name}`;
/** @param {string} time */
const age = (time) => duration((Date.now() - Date.parse(time)) / 1000);

/** @param {HTMLElement} main
 * @param {import("./main.js").Route} route */
export function open(main, route) {
  let shown = "", stop = () => {}, waits = 0;
  const list = new List(/** @type {ConstructorParameters<typeof List<Job>>[0]} */ ({
    label: "Jobs, the newest first", css: "jobs", key,
    cells: (job) => [phase(job), h("strong", {}, `${job.namespace}/${job.name}`), h("span", {}, job.kind), counts(job.pods),
      h("span", { class: "summary" }, job.message), h("time", { class: "muted end", title: job.created, datetime: job.created }, age(job.created))],
    open: (job) => { location.hash = `#/jobs/${key(job)}`; },
  }));
  const q = h("input", { type: "search", id: "search", placeholder: "Search names", "aria-label": "Search names" });
  const kind = h("select", { "aria-label": "Kind" }, h("option", { value: "" }, "All kinds"));
  const namespace = h("select", { "aria-label": "Namespace" }), phases = h("select", { "aria-label": "Phase" });
  const total = h("span", { class: "muted", id: "total" }), banner = h("div"), body = h("div", { class: "rest" });
  const detail = h("aside", { "aria-label": "Job", tabindex: -1 });

  const draw = (/** @type {import("./types.js").Jobs} */ answer) => {
    const jobs = answer.items;
    renew(namespace, "All namespaces", jobs.map((job) => job.namespace));
    renew(phases, "All phases", jobs.map((job) => job.phase));
    if (kind.options.length === 1) kind.append(...answer.kinds.map((one) => h("option", { value: one.plural }, one.kind)));
    const unseen = answer.kinds.filter((one) => one.unknown && one.unknown !== "not installed");
    show(banner, unseen.length > 0 && h("p", { class: "banner" }, icon("warned"), `Not shown: ${unseen.map((one) => `${one.kind} (${one.unknown})`).join(", ")}.`));
    total.textContent = answer.matched > jobs.length ? `the newest ${jobs.length} of ${many(answer.matched, "job")}` : answer.matched < answer.total ? `${answer.matched} of ${many(answer.total, "job")}` : many(answer.total, "job");
    if (!jobs.length) show(body, answer.total ? empty("No job fits these filters.", "Remove a filter to see more.")
      : empty("No jobs.", "A job appears here as soon as it is stored in a namespace whose jobs you may list. Create one: ", h("code", {}, "kubectl apply -f job.yaml")));
    else if (!list.root.isConnected) show(body, list.root);
    list.set(jobs);
  };
  const query = () => new URLSearchParams({ q: q.value, plural: kind.value, namespace: namespace.value, phase: phases.value });
  const soon = () => { clearTimeout(waits); waits = setTimeout(polled.now, TYPING); };

  const unfold = (/** @type {string[]} */ path) => {
    stop();
    shown = path.join("/");
    fold(main, detail, list.root);
    if (path.length !== 3) return;
    main.classList.add("split");
    list.current = shown;
    list.draw();
    const close = () => { location.hash = "#/jobs"; };
    const parts = new Map();
    show(detail, closer(close));
    stop = poll(JOB_PERIOD, () => `/api/jobs/${path.map(encodeURIComponent).join("/")}`, (answer) => {
      if (!parts.size) show(detail, closer(close));
      // Only sections that changed are drawn again: a reader's place and focus stay.
      for (const [name, value, build] of sections(answer, detail)) {
        const text = JSON.stringify(value);
        if (parts.get(name)?.text === text) continue;
        const node = h("div", { class: "part" }, build());
        if (parts.has(name)) parts.get(name).node.replaceWith(node);
        else detail.append(node);
        parts.set(name, { text, node });
      }
    }, (error) => {
      if (!error || (!error.status && parts.size)) return;
      const deleted = error.status === 404 && parts.size;
      show(detail, closer(close), deleted ? empty("This job was deleted.", "Its pods and objects go with it.") : failure(error));
      parts.clear();
    }).stop;
    detail.focus({ preventScroll: true });
  };

  show(main, head("Jobs and their pods", "All stored jobs, live. For owners of jobs: select one to see its tasks, and why it waits."), h("div", { class: "pane" },
    h("div", { class: "filters", role: "search" }, q, kind, namespace, phases, total), banner, body), detail);
  for (const input of [q, kind, namespace, phases]) input.addEventListener("input", soon);
  show(body, empty("Loading…"));
  const polled = poll(PERIOD, () => `/api/jobs?${query()}`, draw, (error) => {
    live(error);
    if (error && (error.status || !list.root.isConnected)) show(body, failure(error, () => polled.now()));
  });
  const aging = setInterval(() => {
    for (const time of main.querySelectorAll("time")) if (time.textContent !== age(time.dateTime)) time.textContent = age(time.dateTime);
  }, PERIOD);
  unfold(route.path);
  return {
    update(/** @type {import("./main.js").Route} */ next) { if (next.path.join("/") !== shown) unfold(next.path); },
    close() { clearInterval(aging); clearTimeout(waits); polled.stop(); stop(); },
  };
}

/** Return the sections of a job: name, what it shows, and how.
 * @param {WholeJob} whole
 * @param {HTMLElement} detail
 * @returns {[string, unknown, () => import("./dom.js").Child][]} */
function sections(whole, detail) {
  const { job, why, objects, pods, events, conditions } = whole;
  return [
    ["head", job, () => h("div", {}, h("h2", {}, phase(job), " ", job.kind, " ", `${job.namespace}/${job.name}`),
      h("p", { class: "muted" }, `${job.message && job.message.replace(/\.?$/, ". ")}Created `, h("time", { datetime: job.created }, age(job.created)), ` ago; ${job.runBy === "jobgate" ? "jobgate runs it" : "its operator runs it"}${job.restarts ? `; ${many(job.restarts, "restart")} of containers` : ""}.`))],
    ["why", why, () => why && why.causes.length > 0 && section(why.state === "waits" ? "Why it waits" : "What to know",
      h("ul", { class: "why" }, ...why.causes.map((cause) => h("li", {}, icon("pending"), h("div", {}, h("p", {}, cause.what),
        cause.fix && h("p", {}, h("strong", {}, "To do: "), cause.fix), cause.detail && h("p", { class: "muted" }, cause.detail),
        cause.pods.length > 0 && h("p", { class: "muted" }, `Pods: ${cause.pods.slice(0, 5).join(", ")}${cause.pods.length > 5 ? ` and ${cause.pods.length - 5} more` : ""}`))))),
      ...why.notLookedAt.map((unseen) => h("p", { class: "muted" }, `Not looked at: ${unseen.what} (${unseen.why}).`)))],
    ["tasks", [whole.tasks, whole.gangs], () => whole.tasks.length > 0 && section("Tasks", graph(whole, detail.clientWidth < 560))],
    ["objects", objects, () => objects.length > 0 && section("Objects beside the pods", table("Objects", ["Kind", "Name", "Made by"],
      objects.map((one) => [one.kind, h("strong", {}, one.name), one.source])))],
    ["pods", pods, () => section(`Pods${pods.length < whole.podsTotal ? ` (${pods.length} of ${whole.podsTotal})` : ""}`, pods.length ? table("Pods", ["Pod", "Phase", "Node", "Restarts"],
      pods.map((pod) => [h("strong", {}, pod.name), h("span", {}, badge(pod.phase), pod.reason && ` ${pod.reason}`, pod.phase === "Running" && !pod.ready && " not ready"), pod.node || h("span", { class: "muted" }, "none yet"), pod.restarts]))
      : h("p", { class: "muted" }, "No pods yet."))],
    ["events", events, () => section(`Events${events.length < whole.eventsTotal ? ` (${events.length} of ${whole.eventsTotal})` : ""}`, events.length ? table("Events", ["Time", "Reason", "Object", "Message"],
      events.map((event) => [clock(Date.parse(event.time) / 1000), badge(event.type === "Warning" ? "warning" : "info", `${event.reason}${event.count > 1 ? ` ×${event.count}` : ""}`), event.object, event.message]))
      : h("p", { class: "muted" }, "No Events: Kubernetes keeps them for an hour."))],
    ["conditions", conditions, () => conditions.length > 0 && section("Conditions", table("Conditions", ["Type", "Status", "Since", "Message"],
      conditions.map((one) => [one.type, one.status, clock(Date.parse(one.time) / 1000), [one.reason, one.message].filter(Boolean).join(": ")])))],
  ];
}
