// Now: the reviews of all replicas as they happen; a denial unfolds into its causes.

import { get } from "./api.js";
import { clock, h, icon, many, show } from "./dom.js";
import { List } from "./list.js";
import { annotated, badge, causes, diff, empty, failure, gotoLine, head, legend, renew, section } from "./parts.js";
import { follow, store } from "./reviews.js";

/** @typedef {import("./types.js").Review} Review */
/** @typedef {import("./types.js").WholeReview} WholeReview */

/** The verdicts, and what each means. */
const MEANINGS = {
  denied: "not stored; the user saw the causes", warned: "accepted; the user saw warnings", patched: "accepted, with defaults added",
  allowed: "accepted as it is", later: "jobgate needs a moment: the client tries again",
};
const VERDICTS = /** @type {(keyof typeof MEANINGS)[]} */ (Object.keys(MEANINGS));

/** @param {Review} review */
const subject = (review) => `${review.namespace ? `${review.namespace}/` : ""}${review.name || "(no name yet)"}`;

/** @param {Review} review */
function summary(review) {
  const [first] = [...review.causes, ...review.warnings], more = review.causes.length + review.warnings.length - 1;
  if (first) return `${first.field ? `${first.field}: ` : ""}${first.message}${more ? ` (+${more})` : ""}`;
  return review.operations ? `${many(review.operations, "field")} defaulted` : MEANINGS[review.verdict];
}

/** @param {HTMLElement} main
 * @param {import("./main.js").Route} route */
export function open(main, route) {
  let query = route.query, shown = 0;
  const total = h("span", { class: "muted", id: "total" });
  const list = new List(/** @type {ConstructorParameters<typeof List<Review>>[0]} */ ({
    label: "Reviews, the newest first", css: "reviews", key: (review) => String(review.id),
    cells: (review) => [
      h("time", { class: "muted" }, clock(Date.parse(review.time) / 1000, true)), h("span", { class: "verdict" }, badge(review.verdict), h("span", { class: "muted" }, ` (${review.phase})`)), h("span", {}, review.kind),
      h("strong", {}, subject(review)), h("span", { class: `summary ${review.verdict}` }, summary(review)),
      h("span", { class: "muted user" }, review.user),
      h("span", { class: "muted end" }, review.dryRun && h("span", { class: "tag" }, "dry run"), ` ${review.milliseconds.toFixed(1)} ms`)],
    open: (review) => { location.hash = `#/now/${review.id}?${query}`; },
  }));
  const search = h("input", { type: "search", id: "search", placeholder: "Search names and messages", "aria-label": "Search names and messages" });
  const kind = h("select", { id: "kind", "aria-label": "Kind" });
  const field = (/** @type {string} */ name) => h("input", { id: name, list: `${name}s` });
  const labelled = (/** @type {string} */ text, /** @type {HTMLElement} */ input) => h("label", { class: "field" }, text, input);
  const namespace = field("namespace"), user = field("user");
  const rule = h("button", { type: "button", class: "tag", click: () => { rule.value = ""; filter(); } });
  const boxes = VERDICTS.map((verdict) => h("input", { type: "checkbox", value: verdict }));
  const labels = boxes.map((box) => h("label", { class: "chip" }, box, badge(box.value), h("span", { class: "number" })));
  const options = { namespace: h("datalist", { id: "namespaces" }), user: h("datalist", { id: "users" }) };
  const banner = h("div"), body = h("div", { class: "rest" }), detail = h("aside", { "aria-label": "Review", tabindex: -1 });
  const inputs = { q: search, kind, namespace, user, rule };

  const filter = () => {
    query = new URLSearchParams(Object.entries(inputs).flatMap(([name, input]) => input.value ? [[name, input.value]] : []));
    for (const box of boxes) if (box.checked) query.append("verdict", box.value);
    history.replaceState(null, "", `#/now${shown ? `/${shown}` : ""}${query.size ? `?${query}` : ""}`);
    draw();
  };
  const fill = () => {
    for (const [name, input] of Object.entries(inputs)) {
      const value = query.get(name) ?? "";
      if (name === "kind" && value) renew(kind, "All kinds", [value]);
      input.value = value;
    }
    for (const box of boxes) box.checked = query.getAll("verdict").includes(box.value);
  };
  const draw = () => {
    if (store.error && !store.loaded) return show(body, failure(store.error, () => polled.now()));
    const words = search.value.toLowerCase(), wanted = boxes.filter((box) => box.checked).map((box) => box.value);
    const tally = /** @type {Record<string, number>} */ ({});
    const items = store.reviews.filter((review) => {
      const fits = (!kind.value || review.kind === kind.value) && review.namespace.includes(namespace.value)
        && review.user.includes(user.value) && (!words || `${subject(review)} ${summary(review)}`.toLowerCase().includes(words))
        && (!rule.value || [...review.causes, ...review.warnings].some((cause) => cause.rule === rule.value));
      if (fits) tally[review.verdict] = (tally[review.verdict] ?? 0) + 1;
      return fits && (!wanted.length || wanted.includes(review.verdict));
    });
    labels.forEach((label, at) => { /** @type {Element} */ (label.lastChild).textContent = String(tally[VERDICTS[at] ?? ""] ?? 0); });
    renew(kind, "All kinds", [...store.values.kind]);
    renew(options.namespace, "", [...store.values.namespace]);
    renew(options.user, "", [...store.values.user]);
    rule.hidden = !rule.value;
    show(rule, `rule ${rule.value} ✕`);
    const silent = store.replicas.filter((replica) => replica.state !== "streaming");
    show(banner, store.error !== null && failure(store.error, () => polled.now()), store.missed && h("p", { class: "banner" }, icon("warned"), "Some reviews could not be shown: there were more than the servers keep."),
      silent.length > 0 && h("p", { class: "banner" }, icon("warned"), `No reviews from ${silent.map((one) => `${one.name} (${one.message || one.state})`).join(", ")}.`));
    total.textContent = items.length === store.reviews.length ? many(items.length, "review") : `${many(items.length, "review")} of ${store.reviews.length.toLocaleString("en")}`;
    list.set(items);
    if (items.length) { if (!list.root.isConnected) show(body, list.root); list.draw(); }
    else if (!store.loaded) show(body, empty("Loading…"));
    else if (store.reviews.length) show(body, empty("No review fits these filters.", "Remove a filter to see more."));
    else show(body, nothing());
  };
  const unfold = async (/** @type {string | undefined} */ id) => {
    const asked = shown = Number(id ?? 0), close = () => { location.hash = `#/now?${query}`; };
    if (!asked) return fold(main, detail, list.root);
    main.classList.add("split");
    list.current = String(asked);
    list.draw();
    const nodes = await get(`/api/reviews/${asked}`).then((review) => whole(review, close), (error) => [closer(close), failure(error)]);
    if (asked !== shown) return;
    show(detail, ...nodes);
    detail.focus({ preventScroll: true });
  };

  show(main, head("Reviews as they happen", "Who created or changed a job, and how jobgate answered. For users whose job was denied: select a review to see why. ",
    h("details", { class: "words" }, h("summary", {}, "What the words mean"), legend(...VERDICTS.map((verdict) => /** @type {[Node, string]} */ ([badge(verdict), MEANINGS[verdict]]))),
      h("p", {}, h("code", {}, "kubectl apply"), " usually leads to two reviews: first defaults are added, then the rules are checked. At the right: who asked, and how long the review took."))),
  h("div", { class: "pane" },
    h("div", { class: "filters", role: "search" }, search, kind, labelled("Namespace", namespace), labelled("User", user), h("fieldset", {}, h("legend", { class: "hidden" }, "Verdict"), ...labels), rule, total),
    banner, body, options.namespace, options.user), detail);
  for (const input of [search, namespace, user, kind, ...boxes]) input.addEventListener("input", filter);
  fill();
  unfold(route.path[0]);
  const polled = follow(draw);
  return {
    update(/** @type {import("./main.js").Route} */ next) {
      query = next.query;
      fill();
      draw();
      if (Number(next.path[0] ?? 0) !== shown) unfold(next.path[0]);
    },
    close() { polled.stop(); },
  };
}

/** Return what must happen for the first review to appear. */
function nothing() {
  const keeping = store.replicas.filter((replica) => replica.state === "streaming").length;
  return empty("No reviews yet.", h("p", {}, "A review appears here as soon as both are true:"), h("ol", {},
    h("li", {}, keeping ? badge("ready", `${many(keeping, "server")} ${keeping === 1 ? "keeps" : "keep"} reviews.`)
      : h("span", {}, "Servers keep reviews. ", badge("warned", store.replicas.length ? "None does." : "No server is found."),
        " Set ", h("code", {}, "keepReviews: 500"), " in the chart, or run ", h("code", {}, "jobgate manifests --keep-reviews 500"), " and apply its output.")),
    h("li", {}, "Someone creates or changes a job. To try it without storing anything: ", h("code", {}, "kubectl apply --dry-run=server -f job.yaml"))));
}

/** @param {() => void} close */
export function closer(close) {
  return h("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Escape)", click: close }, icon("denied"));
}

/** Show only the list again. The focus goes there, which is possible only now: where there is little room, it was hidden.
 * @param {Element} main
 * @param {Element} detail
 * @param {HTMLElement} list */
export function fold(main, detail, list) {
  const leaves = detail.contains(document.activeElement);
  main.classList.remove("split");
  show(detail);
  if (leaves) list.focus();
}

/** @param {WholeReview} review
 * @param {() => void} close */
function whole(review, close) {
  const notes = [...review.causes.map((cause) => ({ ...cause, level: /** @type {const} */ ("denied") })),
    ...review.warnings.map((cause) => ({ ...cause, level: /** @type {const} */ ("warned") }))].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const yaml = review.yaml === null ? h("p", { class: "muted" }, "The object is not kept: only objects with causes or warnings are, if they are not too large or many.") : annotated(review.yaml, notes);
  const verb = { CREATE: "created", UPDATE: "changed", DELETE: "deleted" }[review.operation] ?? review.operation;
  const outcome = { denied: "was denied", warned: "was accepted with warnings", patched: "was accepted, with defaults added", allowed: "was accepted", later: "was asked to try again in a moment" }[review.verdict];
  return [
    closer(close), h("h2", {}, badge(review.verdict), " ", review.kind, " ", subject(review)),
    h("p", { class: "muted" }, `${clock(Date.parse(review.time) / 1000)}: ${review.user} ${verb} it${review.dryRun ? " (dry run)" : ""}; the request ${outcome} (${review.phase}, ${review.milliseconds.toFixed(1)} ms, by ${review.replica}).`),
    notes.length > 0 && section([review.causes.length && many(review.causes.length, "cause"), review.warnings.length && many(review.warnings.length, "warning")].filter(Boolean).join(", "), causes(notes, (line) => gotoLine(yaml, line))),
    section("Object", review.yaml !== null && h("p", { class: "muted" }, "As jobgate writes it: its lines are not those of your file."), yaml),
    review.diff && section(`Patch: ${many(review.operations, "operation")}`, diff(review.diff)),
  ].filter((node) => node instanceof Node);
}
