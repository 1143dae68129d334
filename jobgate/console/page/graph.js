// A job as a graph of its tasks: arrows are dependsOn, frames are gangs.

import { h, many, s } from "./dom.js";
import { badge, counts, legend } from "./parts.js";

/** @typedef {import("./types.js").Task} Task */
/** @typedef {import("./types.js").WholeJob} WholeJob */

/** Size of a task, of the space between two (an arrow's, and between neighbours), and within a frame. */
const WIDTH = 208, HEIGHT = 104, LONG = 48, SHORT = 22, PAD = 14, TITLE = 20;
/** The order of phases in a bar; `Missing` are pods that are not there yet. */
const PHASES = ["Succeeded", "Running", "Pending", "Failed", "Unknown", "Missing", "denied", "warned"];

/** Return how many tasks must come before each task.
 * @param {Task[]} tasks */
export function depths(tasks) {
  /** @type {Map<string, number>} */
  const known = new Map();
  const before = new Map(tasks.map((task) => [task.name, task.dependsOn]));
  const depth = (/** @type {string} */ name, /** @type {Set<string>} */ path) => {
    const old = known.get(name);
    if (old !== undefined) return old;
    let most = 0;
    for (const other of before.get(name) ?? [])
      if (before.has(other) && !path.has(other)) most = Math.max(most, depth(other, new Set([...path, other])) + 1);
    known.set(name, most);
    return most;
  };
  for (const { name } of tasks) depth(name, new Set([name]));
  return known;
}

/** Return the place of each task: gangs are lanes, so that no frame contains another gang's task.
 * @param {WholeJob} job
 * @param {boolean} down whether arrows lead down, as on a phone, or to the right */
function places({ tasks, gangs }, down) {
  const depth = depths(tasks), lane = new Map(tasks.map((task) => [task.name, gangs.findIndex((gang) => gang.tasks.includes(task.name))]));
  /** @type {Map<string, {x: number, y: number}>} */
  const at = new Map();
  let across = TITLE + PAD;
  for (const number of [...gangs.keys(), -1]) {
    /** @type {Map<number, number>} */
    const used = new Map();
    for (const { name } of tasks.filter((task) => lane.get(task.name) === number)) {
      const column = depth.get(name) ?? 0, row = used.get(column) ?? 0;
      used.set(column, row + 1);
      at.set(name, down ? { x: across - TITLE + row * (WIDTH + SHORT), y: TITLE + PAD + column * (HEIGHT + LONG) }
        : { x: PAD + column * (WIDTH + LONG), y: across + row * (HEIGHT + SHORT) });
    }
    if (used.size) across += Math.max(...used.values()) * ((down ? WIDTH : HEIGHT) + SHORT) + TITLE + PAD;
  }
  return at;
}

/** Return the pods of a task by phase, with those that are not there yet.
 * @param {Task} task */
function phases(task) {
  const missing = task.replicas - Object.values(task.pods).reduce((sum, count) => sum + count, 0);
  return missing > 0 ? { ...task.pods, Missing: missing } : task.pods;
}

/** @param {Record<string, number>} pods */
export function bar(pods) {
  return h("div", { class: "bar", "aria-hidden": "true" }, ...PHASES.filter((phase) => pods[phase]).map((phase) =>
    h("span", { class: phase.toLowerCase(), css: { "flex-grow": pods[phase] } })));
}

/** @param {Task} task
 * @param {{x: number, y: number}} place */
function node(task, { x, y }) {
  const after = task.dependsOn.length ? `after ${task.any && task.dependsOn.length > 1 ? "any of " : ""}${task.dependsOn.join(", ")}` : "starts first";
  return h("li", { class: `task ${task.state}`, "data-task": task.name, css: { left: `${x}px`, top: `${y}px`, width: `${WIDTH}px`, height: `${HEIGHT}px` } },
    h("div", { class: "line" }, h("strong", { title: task.name }, task.name), badge(task.state)),
    h("p", { class: "muted", title: after }, [task.type !== "none" && task.type, many(task.replicas, "pod"), task.minimum !== null && task.minimum < task.replicas && `at least ${task.minimum}`].filter(Boolean).join(" · ")),
    h("span", { class: "hidden" }, after), bar(phases(task)), counts(phases(task)));
}

/** @param {WholeJob} job
 * @param {boolean} down */
export function graph(job, down) {
  const at = places(job, down), all = [...at.values()];
  const width = Math.max(...all.map(({ x }) => x + WIDTH), 0) + PAD, height = Math.max(...all.map(({ y }) => y + HEIGHT), 0) + PAD * 2;
  const frames = job.gangs.map((gang) => {
    const inside = gang.tasks.map((name) => at.get(name)).filter((place) => place !== undefined);
    const x = Math.min(...inside.map((place) => place.x)) - PAD, y = Math.min(...inside.map((place) => place.y)) - PAD - TITLE + 6;
    const right = Math.max(...inside.map((place) => place.x)) + WIDTH + PAD, low = Math.max(...inside.map((place) => place.y)) + HEIGHT + PAD;
    return inside.length > 0 && s("g", { class: "gang" }, s("rect", { x, y, width: right - x, height: low - y, rx: 10 }),
      s("text", { x: x + 10, y: y + 14 }, `gang ${gang.name}: ${many(gang.minimum, "pod")} start together`.slice(0, (right - x) / 6)));
  });
  const arrows = job.tasks.flatMap((task) => task.dependsOn.map((name) => {
    const from = at.get(name), to = at.get(task.name);
    if (!from || !to) return null;
    const [a, b, c, d] = down ? [from.x + WIDTH / 2, from.y + HEIGHT, to.x + WIDTH / 2, to.y - 6] : [from.x + WIDTH, from.y + HEIGHT / 2, to.x - 6, to.y + HEIGHT / 2];
    const bend = down ? `${a} ${(b + d) / 2} ${c} ${(b + d) / 2}` : `${(a + c) / 2} ${b} ${(a + c) / 2} ${d}`;
    return s("path", { class: `arrow ${task.any ? "any" : ""}`, d: `M${a} ${b}C${bend} ${c} ${d}`, "marker-end": "url(#head)" });
  }));
  const any = job.tasks.some((task) => task.any && task.dependsOn.length > 1);
  const signs = /** @type {(false | [string, string])[]} */ ([
    arrows.length > 0 && ["→", "must start first"], any && ["⇢", "one of them must start first"], frames.some(Boolean) && ["┆ ┆", "a gang: its pods start together, or none does"],
    ["━", "pods by phase"], job.tasks.some((task) => "Missing" in phases(task)) && ["╌", "not created yet"],
  ]);
  return h("div", {}, h("div", { class: "graph", role: "group", tabindex: 0, "aria-label": "Graph of the tasks" },
    h("div", { class: "canvas", css: { width: `${width}px`, height: `${height}px` } },
      s("svg", { width, height, "aria-hidden": "true" },
        s("defs", {}, s("marker", { id: "head", viewBox: "0 0 10 10", refX: 6, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L9 5L0 10z" }))),
        ...frames, ...arrows),
      h("ul", {}, ...job.tasks.map((task) => node(task, at.get(task.name) ?? { x: 0, y: 0 }))))),
  legend(...signs.filter((sign) => sign !== false)));
}
