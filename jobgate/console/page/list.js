// A list of many rows, of which only those in view are in the DOM.

import { h, show } from "./dom.js";

/** Rows beyond each end of the view that are in the DOM too. */
const MARGIN = 8;
let lists = 0;

/** @template T */
export class List {
  /** @param {object} options
   * @param {string} options.label
   * @param {(item: T) => string} options.key
   * @param {(item: T) => Node[]} options.cells
   * @param {(item: T) => void} options.open
   * @param {string} options.css class of the list */
  constructor(options) {
    this.options = options;
    this.prefix = `list${++lists}-`;
    /** @type {T[]} */
    this.items = [];
    /** @type {Map<string, {row: HTMLElement, item: T}>} */
    this.rows = new Map();
    this.current = "";
    this.height = 34;
    this.space = h("div", { class: "space", role: "presentation" });
    this.root = h("div", {
      class: `list ${options.css}`, role: "listbox", tabindex: 0, "aria-label": options.label,
      scroll: () => this.draw(), keydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      click: (/** @type {MouseEvent} */ event) => {
        const row = /** @type {Element} */ (event.target).closest("[role=option]");
        const item = this.items[Number(row?.getAttribute("aria-posinset")) - 1];
        if (item) this.choose(item, true);
      },
    }, this.space);
    this.resized = new ResizeObserver(() => this.draw(true));
    this.resized.observe(this.root);
  }

  /** Show other items; what is in view stays where it is, except at the top, where new items appear.
   * @param {T[]} items */
  set(items) {
    const top = this.root.scrollTop, first = this.items[Math.floor(top / this.height)];
    const key = first && this.options.key(first);
    this.items = items;
    const now = top && key ? items.findIndex((item) => this.options.key(item) === key) : -1;
    this.space.style.height = `${items.length * this.height}px`;
    if (now >= 0) this.root.scrollTop = now * this.height + (top % this.height);
    this.draw();
  }

  /** Draw the rows in view.
   * @param {boolean} [resized] */
  draw(resized) {
    if (resized) {
      // The style sheet knows the height of a row: it is another at phone width.
      this.height = parseFloat(getComputedStyle(this.root).getPropertyValue("--row")) || this.height;
      this.space.style.height = `${this.items.length * this.height}px`;
    }
    const { key, cells } = this.options, height = this.height;
    const from = Math.max(0, Math.floor(this.root.scrollTop / height) - MARGIN);
    const to = Math.ceil((this.root.scrollTop + this.root.clientHeight) / height) + MARGIN;
    const shown = new Map();
    this.items.slice(from, to).forEach((item, offset) => {
      const id = key(item), old = this.rows.get(id), index = from + offset;
      const row = old?.row ?? h("div", { role: "option", id: this.prefix + id });
      if (old?.item !== item) show(row, ...cells(item));
      const state = { "aria-posinset": index + 1, "aria-setsize": this.items.length, "aria-selected": id === this.current };
      for (const [name, value] of Object.entries(state))
        if (row.getAttribute(name) !== String(value)) row.setAttribute(name, String(value));
      row.style.transform = `translateY(${index * height}px)`;
      shown.set(id, { row, item });
    });
    for (const [id, { row }] of this.rows) if (!shown.has(id)) row.remove();
    [...shown.values()].forEach(({ row }, at) => {
      if (this.space.children[at] !== row) this.space.insertBefore(row, this.space.children[at] ?? null);
    });
    this.rows = shown;
    if (this.rows.has(this.current)) this.root.setAttribute("aria-activedescendant", this.prefix + this.current);
    else this.root.removeAttribute("aria-activedescendant");
  }

  /** @param {T} item
   * @param {boolean} open */
  choose(item, open) {
    this.current = this.options.key(item);
    if (open) this.options.open(item);
    this.draw();
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.floor(this.root.clientHeight / this.height), end = this.items.length - 1;
    const at = this.items.findIndex((item) => this.options.key(item) === this.current);
    const to = {
      ArrowDown: at + 1, ArrowUp: at - 1, j: at + 1, k: at - 1, Home: 0, End: end, PageDown: at + page, PageUp: at - page,
      Enter: at, " ": at,
    }[event.key];
    const index = Math.min(end, Math.max(0, to ?? 0)), item = this.items[index];
    if (to === undefined || !item) return;
    event.preventDefault();
    const top = index * this.height, height = this.root.clientHeight;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else if (top + this.height > this.root.scrollTop + height) this.root.scrollTop = top + this.height - height;
    this.choose(item, event.key === "Enter" || event.key === " ");
  }
}
