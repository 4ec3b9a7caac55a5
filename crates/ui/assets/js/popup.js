// A field with a list under it (the combobox of ARIA 1.2): typing narrows the list, the arrows move along it, Enter takes
// the one that is marked, and Escape closes it. The focus stays in the field.
{
  /** Entries that are shown at once; typing finds the others. */
  const SHOWN = 100;

  /**
   * Makes a field of it: `entries(words)` gives the choices, `isChosen(choice)` marks some, `acts()` gives buttons of the
   * form that stand below them, `take(choice)` and `leave()` get what comes of it.
   */
  hw.popup = (input, { entries, isChosen, acts, take, leave, isMany }) => {
    const place = document.createElement("div");
    place.className = "popup";
    place.hidden = true;
    const list = document.createElement("ul");
    Object.assign(list, { id: `${input.id}-list`, role: "listbox", ariaLabel: "Options" });
    if (isMany) list.ariaMultiSelectable = "true";
    const note = document.createElement("p");
    note.className = "note";
    place.append(list, note);
    for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) {
      input.setAttribute(name, value);
    }
    input.autocomplete = "off";
    input.spellcheck = false;
    let marked = -1;
    let words = "";

    const mark = (at) => {
      list.children[marked]?.classList.remove("marked");
      marked = at;
      const one = list.children[at];
      one?.classList.add("marked");
      one?.scrollIntoView({ block: "nearest" });
      if (one) input.setAttribute("aria-activedescendant", one.id);
      else input.removeAttribute("aria-activedescendant");
    };
    const line = (text, isSelected, act) => {
      const one = document.createElement("li");
      Object.assign(one, { role: "option", ariaSelected: isSelected, textContent: text });
      one.addEventListener("click", act);
      return one;
    };
    const render = () => {
      const found = entries(words);
      const lines = found.slice(0, SHOWN).map((choice) => line(choice.label, isChosen(choice), () => take(choice)));
      lines.push(...acts().map((button) => line(button.textContent, false, () => button.click())));
      for (const [at, one] of lines.entries()) one.id = `${list.id}-${at}`;
      list.replaceChildren(...lines);
      list.hidden = lines.length === 0;
      const left = found.length - SHOWN;
      note.textContent = left > 0 ? `And ${left} more: type to find them.` : found.length > 0 ? "" : words ? "No option has these words: they are a value of your own." : "There are no options.";
      mark(-1);
    };
    const show = (isShown) => {
      place.hidden = !isShown;
      input.setAttribute("aria-expanded", isShown);
      if (isShown) render();
      else mark(-1);
    };
    const close = () => {
      words = "";
      show(false);
    };

    place.addEventListener("mousedown", (event) => event.preventDefault());
    input.addEventListener("click", () => place.hidden && show(true));
    input.addEventListener("input", () => {
      words = input.value.trim().toLowerCase();
      show(true);
    });
    input.addEventListener("change", (event) => event.stopPropagation());
    input.addEventListener("blur", () => {
      close();
      leave();
    });
    input.addEventListener("keydown", (event) => {
      if (event.isComposing) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const count = list.children.length;
      if (step && place.hidden) {
        show(true);
        mark(Math.max([...list.children].findIndex((one) => one.ariaSelected === "true"), 0));
      } else if (step) mark(marked < 0 && step < 0 ? count - 1 : (marked + step + count) % count);
      else if (event.key === "Enter" && marked >= 0) list.children[marked].click();
      else if (event.key === "Enter" && (isMany || !place.hidden)) {
        close();
        leave(true);
      } else if (event.key === "Escape" && !place.hidden) close();
      else {
        if (event.key === "Enter") leave();
        return;
      }
      event.preventDefault();
    });
    const refresh = () => {
      const at = Math.min(marked, list.children.length);
      if (place.hidden) return;
      render();
      mark(at);
    };
    return { place, close, refresh };
  };
}
