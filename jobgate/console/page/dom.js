// Builds the DOM. Whatever a user wrote becomes a text node with visible escapes, and never markup.

/** @typedef {Node | string | number | null | undefined | false} Child */

const SVG = "http://www.w3.org/2000/svg";

/** Return a text with escapes for control characters, lone surrogates and overrides of direction, as
 * `webhook/text.py` writes them.
 * @param {string} text */
export function visible(text) {
  return text.replace(/[\p{C}\p{Z}]/gu, (char) =>
    char === " " ? char
      : { "\n": "\\n", "\r": "\\r", "\t": "\\t" }[char] ?? `\\u${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`);
}

/** @param {Element} node
 * @param {Record<string, unknown>} props event listeners (functions), `css` for custom properties and styles, attributes
 * @param {Child[]} children */
function fill(node, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (typeof value === "function") node.addEventListener(name, /** @type {EventListener} */ (value));
    else if (name === "css") {
      for (const [key, style] of Object.entries(/** @type {object} */ (value)))
        /** @type {HTMLElement} */ (node).style.setProperty(key, String(style));
    } else if (value !== undefined && value !== null && value !== false)
      node.setAttribute(name, value === true ? "" : visible(String(value)));
  }
  append(node, children);
}

/** @param {Element} node
 * @param {Child[]} children */
function append(node, children) {
  for (const child of children)
    if (child !== null && child !== undefined && child !== false)
      node.append(child instanceof Node ? child : visible(String(child)));
}

/** Return a new HTML element.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]
 * @param {...Child} children */
export function h(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  fill(node, props, children);
  return node;
}

/** Return a new SVG element.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, unknown>} [props]
 * @param {...Child} children */
export function s(tag, props = {}, ...children) {
  const node = /** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(SVG, tag));
  fill(node, props, children);
  return node;
}

/** Return a symbol of `index.html`, that a word always accompanies.
 * @param {string} name */
export function icon(name) {
  return s("svg", { "aria-hidden": "true", class: "icon" }, s("use", { href: `#${name}` }));
}

/** Replace what an element contains.
 * @param {Element} node
 * @param {...Child} children */
export function show(node, ...children) {
  node.replaceChildren();
  append(node, children);
}

/** Tell a screen reader, without moving the focus.
 * @param {string} text */
export function announce(text) {
  const status = document.getElementById("status");
  if (status) status.textContent = visible(text);
}

/** @param {number} count
 * @param {string} noun
 * @param {string} [plural] */
export function many(count, noun, plural = `${noun}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;
}

/** Return a duration in its largest unit: 5s, 3m, 2h, 4d.
 * @param {number} seconds */
export function duration(seconds) {
  const all = Math.max(0, seconds);
  if (all < 100) return `${Math.round(all)}s`;
  if (all < 6000) return `${Math.round(all / 60)}m`;
  return all < 172800 ? `${Math.round(all / 3600)}h` : `${Math.round(all / 86400)}d`;
}

/** Return the time of day, or the date too if it is not today's.
 * @param {number} epoch seconds
 * @param {boolean} [short] without year and seconds, for a column */
export function clock(epoch, short) {
  if (Number.isNaN(epoch)) return "unknown";
  const date = new Date(epoch * 1000);
  const time = date.toLocaleTimeString("en-GB");
  if (date.toDateString() === new Date().toDateString()) return time;
  return short ? `${date.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${time.slice(0, 5)}` : `${date.toLocaleDateString("sv")} ${time}`;
}
