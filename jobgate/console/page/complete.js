// Completion of YAML from the JSON Schemas of the kinds: field names, and values of enums.

import { get } from "./api.js";

/** @typedef {{type?: string | string[], description?: string, properties?: Record<string, Schema>, items?: Schema,
 *   additionalProperties?: Schema | boolean, enum?: unknown[], default?: unknown, required?: string[]}} Schema */
/** @typedef {{apiVersion: string, kind: string, url: string}} Named */
/** A step of a path: a field, or an item of a list.
 * @typedef {string | null} Step */

const KEY = /^( *)((?:- +)*)([\w./-]+):(?: |$)/;
/** @type {Promise<Named[]> | null} */
let kinds = null;
/** @type {Map<string, Promise<Schema>>} */
const schemas = new Map();

/** Return the path of the object that a field is in, from the indentation of the lines before it.
 * @param {string[]} lines of the document before the field
 * @param {string} start what is before the field in its own line: spaces and dashes */
export function pathTo(lines, start) {
  /** @type {Step[]} */
  const path = [];
  let indent = start.length, item = false;
  const dashes = (/** @type {number} */ from, /** @type {string} */ marks) => {
    // Each dash begins an item, whose parent may be in the dash's own column.
    for (let at = from + marks.length; at > from;) {
      at = from + marks.slice(0, at - from).lastIndexOf("-");
      path.push(null);
      [indent, item] = [at, true];
    }
  };
  const own = /^( *)((?:- +)*)$/.exec(start);
  if (own?.[2]) dashes(own[1]?.length ?? 0, own[2]);
  for (const line of [...lines].reverse()) {
    if (indent === 0 && !item) break;
    const [, spaces = "", marks = "", key = ""] = KEY.exec(line) ?? [], lead = /^( *)((?:- +)+)/.exec(line);
    const column = spaces.length + marks.length;
    if (key && (column < indent || (item && column === indent && !marks))) {
      path.push(key);
      [indent, item] = [column, false];
    }
    // A dash in an outer column: what was passed is in its item.
    if (lead && (lead[1]?.length ?? 0) < indent && (lead[1]?.length ?? 0) + (lead[2]?.length ?? 0) <= indent)
      dashes(lead[1]?.length ?? 0, lead[2] ?? "");
  }
  return path.reverse();
}

/** @param {Schema | undefined} schema
 * @param {Step[]} path */
export function schemaAt(schema, path) {
  let at = schema;
  for (const step of path) {
    const rest = at?.additionalProperties;
    at = step === null ? at?.items : at?.properties?.[step] ?? (typeof rest === "object" ? rest : undefined);
  }
  return at;
}

/** Return the completions at the cursor.
 * @param {import("./vendor/editor.js").CompletionContext} context
 * @returns {Promise<import("./vendor/editor.js").CompletionResult | null>} */
export async function complete(context) {
  const { doc } = context.state, line = doc.lineAt(context.pos), before = line.text.slice(0, context.pos - line.from);
  const [, start = "", word = "", value] = /^((?: *)(?:- +)*)([\w./-]*)(?:: +([^#]*))?$/.exec(before) ?? [, , , null];
  if (value === null || (!word && !context.explicit && !/- $/.test(before))) return null;
  const all = doc.toString().split("\n");
  const first = all.slice(0, line.number - 1).findLastIndex((text) => text.startsWith("---")) + 1;
  const next = all.slice(line.number).findIndex((text) => text.startsWith("---"));
  const lines = all.slice(first, next < 0 ? undefined : line.number + next), here = line.number - 1 - first;
  const field = (/** @type {string} */ name) => lines.find((text) => text.startsWith(`${name}: `))?.slice(name.length + 2).trim();
  kinds ??= get("/api/schemas").then((answer) => answer.kinds);
  const known = await kinds.catch(() => { kinds = null; return /** @type {Named[]} */ ([]); });
  const named = known.find((one) => one.kind === field("kind") && one.apiVersion === field("apiVersion"));
  const path = pathTo(lines.slice(0, here), start);
  if (!path.length && value !== undefined && (word === "kind" || word === "apiVersion")) {
    const fit = known.filter((one) => word === "apiVersion" || !field("apiVersion") || one.apiVersion === field("apiVersion"));
    return { from: context.pos - value.length, options: [...new Set(fit.map((one) => one[word]))].map((label) => ({ label })) };
  }
  if (named && !schemas.has(named.url)) schemas.set(named.url, get(named.url));
  const schema = named ? await schemas.get(named.url)?.catch(() => { schemas.delete(named.url); return undefined; }) : { properties: { apiVersion: {}, kind: {}, metadata: {} } };
  if (value !== undefined) {
    const at = schemaAt(schema, [...path, word]);
    const values = at?.enum?.filter((one) => one !== null) ?? (types(at).includes("boolean") ? [true, false] : at?.default !== undefined ? [at.default] : []);
    return { from: context.pos - value.length, options: values.map((one) => ({ label: String(one), type: "constant", info: at?.description })) };
  }
  const at = schemaAt(schema, path), indent = " ".repeat(start.length);
  const options = Object.entries(at?.properties ?? {}).map(([label, of]) => ({
    label, type: "property", detail: types(of).join(" or "), info: of.description, boost: at?.required?.includes(label) ? 1 : 0,
    apply: `${label}:${types(of).includes("object") ? `\n${indent}  ` : types(of).includes("array") ? `\n${indent}- ` : " "}`,
  }));
  return options.length ? { from: context.pos - word.length, options, validFor: /^[\w./-]*$/ } : null;
}

/** @param {Schema | undefined} schema */
const types = (schema) => [schema?.type ?? []].flat().filter((type) => type !== "null");
