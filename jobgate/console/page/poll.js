// Asks the console again and again. Nothing is sent or drawn while nothing has changed.

import { Refused, request } from "./api.js";

/** Milliseconds between two requests after failures: the first, and the longest. */
const RETRY = [1000, 15000];

/** Show in the header whether a page follows what happens.
 * @param {Refused | null} error */
export function live(error) {
  dispatchEvent(new CustomEvent("live", { detail: error }));
}

/** Ask for a path until stopped, while the page is visible.
 * @param {number} period milliseconds after an answer
 * @param {() => string} path
 * @param {(answer: any) => void} onAnswer gets the answers that are new
 * @param {(error: Refused | null) => void} onState called with null once there is an answer, and with each other error */
export function poll(period, path, onAnswer, onState) {
  let timer = 0, wait = period, known = { path: "", tag: "" }, state = "not asked yet", asking = new AbortController();
  const pause = () => { clearTimeout(timer); asking.abort(); };
  const now = async () => {
    pause();
    asking = new AbortController();
    const { signal } = asking, asked = path();
    let answer = null, error = null;
    try {
      const response = await request(asked, { signal, headers: asked === known.path ? { "If-None-Match": known.tag } : {} });
      if (response.status !== 304) answer = await response.json();
      known = { path: asked, tag: response.headers.get("ETag") ?? "" };
    } catch (failed) {
      error = failed instanceof Refused ? failed : new Refused(0, "The connection to the console's server is lost.");
      known.path = ""; // what is shown instead of an answer goes away with a new one
    }
    if (signal.aborted) return;
    const [first = 0, longest = 0] = RETRY;
    wait = error ? Math.min(Math.max(first, wait * 2), longest) : period;
    timer = setTimeout(now, wait);
    if (String(error) !== state) onState(error);
    state = String(error);
    if (answer) onAnswer(answer);
  };
  const visibility = () => { if (document.hidden) pause(); else now(); };
  document.addEventListener("visibilitychange", visibility);
  visibility();
  return { now, stop() { document.removeEventListener("visibilitychange", visibility); pause(); } };
}
