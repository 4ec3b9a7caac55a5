// The palette: Ctrl or ⌘ and K finds pages, acts of this page, and things by their names, which the node looks up. The
// field keeps the focus; arrows move along the list.
{
  const QUIET_MS = 150;
  const SHOWN = 12;
  const palette = document.querySelector("dialog[data-palette]");

  if (palette) {
    const field = palette.querySelector("input");
    const list = palette.querySelector("[role=listbox]");
    const none = palette.querySelector("[data-none]");
    let options = [];
    let chosen = 0;
    let timer = 0;
    let running = null;

    /** Pages, and the links and buttons that act on what this page shows. */
    const here = () => {
      const found = (selector, kind) =>
        hw.all(selector).filter((one) => !one.hidden && !one.disabled).map((element) => ({ name: element.textContent.trim(), kind, element }));
      return [...found("main .actions > a, main .actions > button, main .actions > form > button", "on this page"), ...found(".sidebar li a, .top a.button", "page"), ...found(".tabs a", "tab")];
    };

    const opened = () => hw.recent().map((one) => ({ ...one, kind: `${one.kind}, opened before` }));

    const searched = (address, words) => {
      const url = new URL(address, location);
      url.searchParams.set("q", words);
      return url.pathname + url.search;
    };

    const mark = (index) => {
      chosen = Math.min(Math.max(index, 0), options.length - 1);
      for (const [at, option] of [...list.children].entries()) {
        option.setAttribute("aria-selected", String(at === chosen));
      }
      const option = list.children[chosen];
      field.setAttribute("aria-activedescendant", option?.id ?? "");
      option?.scrollIntoView({ block: "nearest" });
    };

    const show = (found) => {
      options = found.slice(0, SHOWN);
      list.replaceChildren(
        ...options.map(({ name, kind }, index) => {
          const option = document.createElement("li");
          option.id = `palette-${index}`;
          option.setAttribute("role", "option");
          const [text, note] = [document.createElement("bdi"), document.createElement("span")];
          text.textContent = name;
          note.textContent = kind;
          note.className = "note";
          option.append(text, note);
          return option;
        }),
      );
      field.setAttribute("aria-expanded", String(options.length > 0));
      none.hidden = options.length > 0;
      mark(0);
    };

    const send = ({ address, sends: [name, value] }) => {
      const form = document.createElement("form");
      const field = document.createElement("input");
      Object.assign(form, { method: "post", hidden: true });
      form.setAttribute("action", address);
      Object.assign(field, { name, value });
      form.append(field);
      document.body.append(form);
      form.submit();
    };

    const go = (option) => {
      if (!option) return;
      palette.close();
      if (option.element) option.element.click();
      else if (option.sends) send(option);
      else location.assign(option.address);
    };

    /** Things of the node whose names have the words. Another question ends this one. */
    const ask = async (words) => {
      running?.abort();
      running = new AbortController();
      const address = searched(palette.dataset.palette, words);
      try {
        const answer = await fetch(address, { signal: running.signal });
        return answer.ok ? (await answer.json()).found : [];
      } catch (error) {
        if (error.name === "AbortError") return null;
        hw.say("The node did not answer");
        return [];
      }
    };

    const find = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const local = (words.length === 0 ? [...opened(), ...here()] : here()).filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
      clearTimeout(timer);
      running?.abort();
      show(local);
      if (words.length === 0) return;
      timer = setTimeout(async () => {
        const found = await ask(field.value.trim());
        if (!found) return;
        const search = { name: `Search events for “${field.value.trim()}”`, kind: "search", address: searched(palette.dataset.search, field.value.trim()) };
        const at = chosen;
        show([...local, ...found].slice(0, SHOWN - 1).concat(search));
        mark(at);
        hw.say(options.length === 1 ? "1 result" : `${options.length} results`);
      }, QUIET_MS);
    };

    const open = () => {
      if (palette.open) return palette.close();
      for (const other of hw.all("dialog[open]")) other.close();
      field.value = "";
      find();
      palette.showModal();
    };

    field.addEventListener("input", find);
    field.addEventListener("keydown", (event) => {
      const steps = { ArrowDown: 1, ArrowUp: -1 };
      if (event.key in steps) mark(chosen + steps[event.key]);
      else if (event.key === "Enter" && !event.isComposing) go(options[chosen]);
      else return;
      event.preventDefault();
    });
    list.addEventListener("click", (event) => go(options[[...list.children].indexOf(event.target.closest("li"))]));
    palette.addEventListener("close", () => running?.abort());
    document.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      open();
    });
    for (const button of hw.all("[data-opens-palette]")) {
      button.hidden = false;
      button.addEventListener("click", open);
    }
  }

  // A click beside a dialog closes it.
  for (const dialog of hw.all("dialog")) {
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close();
    });
  }
}
