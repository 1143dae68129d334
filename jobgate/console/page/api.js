// Requests to the console's own server.

const KEY = "jobgate-token";

/** The server's answer is an error, or there is none (status 0). The message is for the user. */
export class Refused extends Error {
  /** @param {number} status
   * @param {string} message */
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Take the token out of the address that `jobgate console` prints, so that it is in no bookmark; return whether it was there. */
export function takeToken() {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token) {
    useToken(token);
    history.replaceState(null, "", location.pathname);
  }
  return Boolean(token);
}

/** @param {string} token */
export function useToken(token) {
  sessionStorage.setItem(KEY, token.replace(/[^!-~]/g, "")); // no others can be sent
}

/** Return an answer that is not an error; 304 if the request has the tag of the last answer and nothing has changed.
 * @param {string} path
 * @param {RequestInit} [options] */
export async function request(path, options = {}) {
  const headers = { Authorization: `Bearer ${sessionStorage.getItem(KEY) ?? ""}`, "Content-Type": "application/json", ...options.headers };
  let response;
  try {
    response = await fetch(path, { ...options, headers });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Refused(0, "The console's server does not answer. Start jobgate console again, or its port-forward.");
  }
  if (response.ok || response.status === 304) return response;
  const message = await response.json().then((body) => body.error.message, () => response.statusText);
  if (response.status === 401) dispatchEvent(new CustomEvent("unauthorized", { detail: message }));
  throw new Refused(response.status, message);
}

/** @param {string} path
 * @param {AbortSignal} [signal] */
export async function get(path, signal) {
  return (await request(path, { signal })).json();
}

/** @param {string} path
 * @param {object} body
 * @param {AbortSignal} [signal] */
export async function post(path, body, signal) {
  return (await request(path, { method: "POST", body: JSON.stringify(body), signal })).json();
}
