// The editor over fields of code and JSON. It comes with the first field that wants it, and writes each change to its
// field: forms are sent as they are without it.
{
  const views = new WeakMap();

  const open = async (field) => {
    try {
      const editor = await import(field.dataset.editor);
      const view = editor.mountEditor(editor, field, hw);
      views.set(field, view);
      return view;
    } catch {
      hw.say("The editor cannot be loaded. The plain field works.");
      return null;
    }
  };

  /** Another text in a field of code, with its editor or without. */
  hw.fillCode = (field, text) => {
    const view = views.get(field);
    if (view) view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
    else field.value = text;
  };

  /** Opens the editors of fields that have it at once, and gives the others a button. */
  hw.enableEditors = (within = document) => {
    for (const field of hw.all("textarea[data-editor]:not([hidden])", within)) {
      if (field.dataset.at !== "press") open(field);
      else if (!field.nextElementSibling?.matches("[data-opens]")) {
        const button = document.createElement("button");
        button.type = "button";
        button.className = "quiet";
        button.dataset.opens = "";
        button.textContent = "Open in the editor";
        button.addEventListener("click", async () => {
          const view = await open(field);
          if (view) button.remove();
          view?.focus();
        });
        field.after(button);
      }
    }
  };

  hw.enableEditors();
}
