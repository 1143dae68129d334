// Requests to the console's own server, and its streams.

const KEY = "jobgate-token";
/** Seconds until a broken stream is asked for again: the first, and the longest. */
const RETRY = [1, 15];

/** The server's answer is an error, or there is none (status 0). The message is for the user. */
export class Refused extends Error {
  /**
   * @param {number} status
   * @param {string} message
   */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Take the token out of the address that `jobgate console` prints, so that it is in no bookmark. */
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (!token) return;
  useToken(token);
  history.replaceState(null, "", location.pathname);
}

/** @param {string} token */
export function useToken(token) {
  sessionStorage.setItem(KEY, token.trim());
}

/**
 * @param {string} path
 * @param {RequestInit} [options]
 */
async function request(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`, "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Refused(0, "The console's server does not answer. Start jobgate console again, or its port-forward.");
  }
  if (response.ok) return response;
  const message = await response.json().then((body) => body.error.message, () => response.statusText);
  if (response.status === 401) dispatchEvent(new CustomEvent("unauthorized", { detail: message }));
  throw new Refused(response.status, message);
}

/**
 * @param {string} path
 * @param {AbortSignal} [signal]
 */
export async function get(path, signal) {
  return (await request(path, { signal })).json();
}

/**
 * @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal]
 */
export async function post(path, body, signal) {
  return (await request(path, { method: "POST", body: JSON.stringify(body), signal })).json();
}

/**
 * Read a stream of server-sent events until it is stopped; EventSource cannot send a token. A hidden page reads none:
 * browsers open only six connections to a server, for all tabs together.
 * @param {(last: string) => string} path of the stream after the last id that was read
 * @param {(event: string, data: any) => void} onEvent
 * @param {(error: Refused | null) => void} onState null once it is read
 * @returns {() => void} stops it
 */
export function stream(path, onEvent, onState) {
  let last = "", wait = RETRY[0] ?? 1, running = true, reading = new AbortController(), seen = () => {};
  const visibility = () => { if (document.hidden) reading.abort(); else seen(); };
  document.addEventListener("visibilitychange", visibility);
  (async () => {
    while (running) {
      if (document.hidden) await new Promise((resolve) => { seen = () => resolve(null); });
      reading = new AbortController();
      const { signal } = reading;
      try {
        const response = await request(path(last), { signal });
        onState(null);
        for await (const { event, id, data } of events(response)) {
          wait = RETRY[0] ?? 1;
          last = id || last;
          onEvent(event, JSON.parse(data));
        }
        throw new Refused(0, "The stream has ended.");
      } catch (error) {
        if (signal.aborted) continue;
        onState(error instanceof Refused ? error : new Refused(0, "The connection to the console's server is lost."));
        if (error instanceof Refused && [401, 403, 404].includes(error.status)) break;
      }
      await new Promise((resolve) => setTimeout(resolve, wait * 1000));
      wait = Math.min(wait * 2, RETRY[1] ?? 15);
    }
    document.removeEventListener("visibilitychange", visibility);
  })();
  return () => {
    running = false;
    reading.abort();
    seen();
  };
}

/** @param {Response} response */
async function* events(response) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + decoder.decode(value, { stream: true })).split(/\r?\n\r?\n/);
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const fields = { event: "message", id: "", data: "" };
      for (const line of block.split(/\r?\n/)) {
        const [, name, text = ""] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
        if (name) fields[/** @type {"event" | "id" | "data"} */ (name)] += name === "event" ? "" : text;
        if (name === "event") fields.event = text;
      }
      if (fields.data) yield fields;
    }
  }
}
