// The types of the bundle are those of its packages; the page's check reads them (tools/page/tsconfig.json).
export * from "../../../../tools/page/editor.js";
export type { CompletionContext, CompletionResult } from "@codemirror/autocomplete";
export type { Diagnostic } from "@codemirror/lint";
export type { Text } from "@codemirror/state";
