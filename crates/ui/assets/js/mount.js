// The part of the editor that comes with it: its look, its keys, and the field that each change is written to. It lives in
// a shadow root, whose sheets need no nonce.
const sheet = (editor) => {
  const { EditorView, HighlightStyle, syntaxHighlighting, tags } = editor;
  const look = EditorView.theme({
    "&": { backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "0.875rem" },
    "&.cm-focused": { outline: "2px solid var(--focus)", outlineOffset: "1px" },
    ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5", minHeight: "var(--least)", maxHeight: "70vh", overflow: "auto" },
    ".cm-content": { caretColor: "var(--text)", padding: "0.375rem 0" },
    "&.cm-focused .cm-cursor": { borderLeftColor: "var(--text)" },
    ".cm-gutters": { backgroundColor: "var(--surface)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
    ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--raised) 60%, transparent)" },
    "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": { background: "color-mix(in srgb, var(--accent) 28%, transparent)" },
    ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--warning-ground)", outline: "1px solid var(--warning)" },
    "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--tint)", outline: "1px solid var(--accent)" },
    ".cm-foldPlaceholder": { backgroundColor: "var(--raised)", borderColor: "var(--edge)", color: "var(--muted)" },
    ".cm-panels, .cm-tooltip": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--edge)" },
    ".cm-tooltip-autocomplete > ul > li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--on-accent)" },
    ".cm-panel.cm-search": { font: "400 0.875rem var(--sans)" },
    ".cm-textfield, .cm-button": { fontSize: "0.8125rem", borderRadius: "4px", backgroundColor: "var(--surface)", backgroundImage: "none", color: "var(--text)", border: "1px solid var(--edge)", minHeight: "1.75rem" },
    ".cm-textfield::placeholder": { color: "var(--muted)", opacity: "1" },
    ".cm-panel.cm-search label": { fontSize: "inherit" },
    ".cm-panel.cm-search [name=close]": { color: "var(--text)", minWidth: "1.75rem", minHeight: "1.75rem" },
  });
  const of = (color, ...list) => ({ tag: list, color });
  const colours = HighlightStyle.define([
    of("var(--accent)", tags.keyword, tags.operatorKeyword, tags.modifier, tags.self, tags.null),
    of("var(--good)", tags.string, tags.special(tags.string), tags.regexp),
    of("var(--busy)", tags.number, tags.bool, tags.propertyName, tags.labelName),
    of("var(--warning)", tags.function(tags.variableName), tags.className, tags.typeName),
    of("var(--bad)", tags.invalid),
    { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  ]);
  return [look, syntaxHighlighting(colours)];
};

/** Presses a button of the field's form, if it has it. */
const press = (field, selector) => {
  const button = field.form?.querySelector(selector);
  if (button) field.form.requestSubmit(button);
  return button !== null;
};

/** Puts the cursor where the node found that the code does not parse. */
const markFault = ({ EditorView }, view) => {
  const fault = document.querySelector("[data-fault-line]")?.dataset;
  const lines = view.state.doc.lines;
  if (!fault || fault.faultLine > lines) return;
  const line = view.state.doc.line(Number(fault.faultLine));
  const anchor = Math.min(line.from + Number(fault.faultColumn) - 1, line.to);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor) });
  view.focus();
};

/** Puts an editor in the place of a field; `hw` is what pages share. */
export const mountEditor = (editor, field, hw) => {
  const { EditorView, basicSetup, indentWithTab, keymap } = editor;
  const label = document.querySelector(`label[for="${CSS.escape(field.id)}"]`);
  const name = field.getAttribute("aria-label") ?? label?.textContent.trim() ?? "Code";
  const place = document.createElement("div");
  place.className = "editor";
  place.style.setProperty("--least", `${Math.min(field.rows, 24) * 1.3125}rem`);
  field.before(place);
  const root = place.attachShadow({ mode: "open" });
  const language = { json: editor.json, javascript: editor.javascript }[field.dataset.language]?.() ?? [];
  let isChanged = false;
  const view = new EditorView({
    doc: field.value,
    root,
    parent: root,
    extensions: [
      keymap.of([
        { key: "Mod-s", preventDefault: true, run: () => press(field, "[data-saves]") || true },
        { key: "Mod-Enter", run: () => press(field, "[data-tests]") },
        indentWithTab,
      ]),
      basicSetup,
      language,
      sheet(editor),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": `${name}. Tab indents; Escape, then Tab leaves.` }),
      EditorView.domEventHandlers({
        blur: () => {
          if (isChanged) field.dispatchEvent(new Event("change", { bubbles: true }));
          isChanged = false;
        },
      }),
      EditorView.updateListener.of((update) => {
        if (!update.docChanged) return;
        isChanged = true;
        field.value = update.state.doc.toString();
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }),
    ],
  });
  label?.addEventListener("click", () => view.focus());
  markFault(editor, view);
  field.hidden = true;
  // An empty field that nobody sees would keep the form from being sent, and say nothing.
  field.required = false;
  for (const note of hw.all("[data-editor-note]", field.parentElement)) note.hidden = false;
  return view;
};
