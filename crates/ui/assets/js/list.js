// Lists: one field for each item, where lines of one field would do without this script. Several lines that are pasted are
// several items, and Enter begins the next one.
{
  const adders = new WeakMap();

  const build = (place) => {
    const texts = JSON.parse(place.dataset.list);
    const plain = place.querySelector("textarea, input");
    const row = place.querySelector("template").content.firstElementChild;
    const described = plain.getAttribute("aria-describedby");
    const list = document.createElement("ol");
    list.className = "items";

    const input = (at) => list.children[at].querySelector("input");
    const number = () => {
      for (const [at, { children }] of [...list.children].entries()) {
        input(at).id = at === 0 ? plain.id : `${plain.id}-${at}`;
        input(at).setAttribute("aria-label", `${place.dataset.title} ${at + 1}`);
        [...children].at(-1).setAttribute("aria-label", `Remove ${at + 1}`);
      }
    };
    const put = (text, at = list.children.length) => {
      list.insertBefore(row.cloneNode(true), list.children[at] ?? null);
      input(at).value = text;
      if (described) input(at).setAttribute("aria-describedby", described);
      number();
      return input(at);
    };
    const add = (at) => {
      const fresh = put("", at);
      hw.enableSecrets(list);
      fresh.focus();
    };
    const placeOf = (target) => [...list.children].indexOf(target.closest("li"));
    const tell = (kind) => list.dispatchEvent(new Event(kind, { bubbles: true }));

    list.addEventListener("click", ({ target }) => {
      if (!target.closest("[data-removes]")) return;
      const at = placeOf(target);
      list.children[at].remove();
      if (list.children.length === 0) put("");
      number();
      input(Math.min(at, list.children.length - 1)).focus();
      tell("change");
    });
    list.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing || !event.target.matches("input")) return;
      event.preventDefault();
      add(placeOf(event.target) + 1);
    });
    list.addEventListener("paste", (event) => {
      const { target } = event;
      const lines = event.clipboardData.getData("text").split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
      if (lines.length < 2 || !target.matches("input")) return;
      event.preventDefault();
      target.setRangeText(lines[0], target.selectionStart, target.selectionEnd, "end");
      const at = placeOf(target);
      for (const [step, line] of lines.slice(1).entries()) put(line, at + 1 + step);
      hw.enableSecrets(list);
      input(at + lines.length - 1).focus();
      hw.say(`${lines.length} items`);
      tell("input");
    });

    for (const text of texts.length > 0 ? texts : [""]) put(text);
    adders.set(place, (text) => {
      const last = input(list.children.length - 1);
      if (last.value) put(text);
      else last.value = text;
      tell("change");
    });
    const more = document.createElement("button");
    Object.assign(more, { type: "button", textContent: "Add another" });
    more.addEventListener("click", () => add());
    place.replaceChildren(list, more);
    place.removeAttribute("data-list");
  };

  /** Adds an item to the list of a field, or a line where its items need more than one. */
  hw.addItem = (field, text) => {
    const place = field.querySelector(".list");
    const area = place.querySelector("textarea");
    if (area) area.value += `\n${text}`;
    else adders.get(place)(text);
  };

  hw.enableLists = (within = document) => hw.all("[data-list]", within).forEach(build);
}
