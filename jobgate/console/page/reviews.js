// The reviews of all replicas, followed while a page shows them; they outlive the page: who comes back finds them.

import { get } from "./api.js";
import { announce, many } from "./dom.js";
import { live, poll } from "./poll.js";

/** @typedef {import("./types.js").Review} Review */

/** Reviews that the page keeps. */
const KEPT = 10000;
/** Milliseconds until new reviews are asked for, and between two announcements. */
const PERIOD = 500, ANNOUNCE = 5000;
export const store = {
  /** @type {Review[]} the newest first */
  reviews: [],
  /** @type {import("./types.js").Source[]} */
  replicas: [],
  /** Reviews were dropped before they were read. */
  missed: false,
  /** What there is to filter by. */
  values: { kind: new Set([""]), namespace: new Set([""]), user: new Set([""]) },
  /** @type {unknown} */
  error: null,
  loaded: false,
  /** @type {() => void} */
  changed: () => {},
};
let spoken = 0, filling = false, failed = /** @type {unknown} */ (null);
/** The ids between which reviews are not loaded yet.
 * @type {{after: number, before: number} | null} */
let gap = null;

/** Add reviews. After a restart of the console the same come with other ids: the newer replace the older.
 * @param {Review[]} reviews */
function add(reviews) {
  for (const review of reviews) for (const name of /** @type {const} */ (["kind", "namespace", "user"])) store.values[name].add(review[name]);
  const added = new Map(reviews.map((review) => [review.key, review]));
  store.reviews = [...added.values(), ...store.reviews.filter((review) => !added.has(review.key))].sort((a, b) => b.id - a.id).slice(0, KEPT);
}

/** Load the reviews in the gap, the newest first, while the page is already used. After a failure, the next call goes on. */
async function fillGap() {
  if (filling) return;
  filling = true;
  try {
    for (let asked; (asked = gap) && (store.reviews.length < KEPT || (store.reviews.at(-1)?.id ?? 0) < asked.before);) {
      const page = await get(`/api/reviews?after=${asked.after}&before=${asked.before}`);
      add(page.items);
      if (gap === asked) gap = page.more ? { after: asked.after, before: page.items.at(-1).id } : null;
      if (store.error === failed) store.error = failed = null;
      store.changed();
    }
    gap = null; // what is left is older than all that the page keeps
  } catch (error) {
    store.error = failed = error;
    store.changed();
  } finally {
    filling = false;
  }
}

/** Return the id after which there may be new reviews. */
const last = () => store.reviews[0]?.id ?? 0;

/** @param {import("./types.js").Reviews} page */
function update(page) {
  const after = Math.min(last(), gap?.after ?? Infinity), oldest = page.items.at(-1);
  add(page.items);
  if (page.more && oldest) gap = { after, before: oldest.id };
  fillGap();
  store.missed ||= page.missed;
  store.replicas = page.replicas;
  const denied = page.items.filter((review) => review.verdict === "denied").length;
  if (store.loaded && denied && Date.now() - spoken > ANNOUNCE) {
    announce(many(denied, "new denial"));
    spoken = Date.now();
  }
  store.loaded = true;
  store.changed();
}

/** Follow the reviews.
 * @param {() => void} changed called at once, and when something is new */
export function follow(changed) {
  store.changed = changed;
  changed();
  const polled = poll(PERIOD, () => `/api/reviews?after=${last()}`, update, (error) => {
    live(error);
    // If there is something to see, the word in the header is enough about a lost connection.
    store.error = error?.status || !store.loaded ? error : null;
    store.changed();
    if (!error) fillGap();
  });
  return { ...polled, now() { fillGap(); polled.now(); } };
}
