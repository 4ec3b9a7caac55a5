// The parts of CodeMirror that assets/js/editor.js uses. `cargo xtask vendor-editor` bundles them into codemirror.js.
export { basicSetup } from "codemirror";
export { indentWithTab } from "@codemirror/commands";
export { javascript } from "@codemirror/lang-javascript";
export { json } from "@codemirror/lang-json";
export { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
export { EditorView, keymap } from "@codemirror/view";
export { tags } from "@lezer/highlight";
