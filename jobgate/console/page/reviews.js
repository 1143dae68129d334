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
let spoken = 0;

/** Add reviews. After a restart of the console the same come with other ids: the newer replace the older.
 * @param {Review[]} reviews */
function add(reviews) {
  for (const review of reviews) for (const name of /** @type {const} */ (["kind", "namespace", "user"])) store.values[name].add(review[name]);
  const added = new Map(reviews.map((review) => [review.key, review]));
  store.reviews = [...added.values(), ...store.reviews.filter((review) => !added.has(review.key))].sort((a, b) => b.id - a.id).slice(0, KEPT);
}

/** Load the reviews between two ids, while the page is already used.
 * @param {number} after
 * @param {import("./types.js").Reviews} page */
async function older(after, page) {
  for (let oldest; page.more && store.reviews.length < KEPT && (oldest = page.items.at(-1));) {
    page = await get(`/api/reviews?after=${after}&before=${oldest.id}`);
    add(page.items);
    store.changed();
  }
}

/** Return the id after which there may be new reviews. */
const last = () => store.reviews[0]?.id ?? 0;

/** @param {import("./types.js").Reviews} page */
function update(page) {
  const after = last();
  add(page.items);
  store.missed ||= page.missed;
  store.replicas = page.replicas;
  older(after, page).catch((error) => { store.error = error; store.changed(); });
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
  return poll(PERIOD, () => `/api/reviews?after=${last()}`, update, (error) => {
    live(error);
    // If there is something to see, the word in the header is enough about a lost connection.
    store.error = error?.status || !store.loaded ? error : null;
    store.changed();
  });
}
