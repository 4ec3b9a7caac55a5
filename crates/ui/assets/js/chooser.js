// Options of props: a field with a list under it, where without this script there is a list with a field for other values,
// or one box for each. Labels are shown, and values are sent.
{
  const choosers = new WeakMap();

  const hidden = (name, value) => Object.assign(document.createElement("input"), { type: "hidden", name, value });
  const choiceOf = (text, label = text) => ({ text, label: label.trim() });

  /** The choices that a rendered field has, and those that are chosen. */
  const read = (field) => {
    const place = field.querySelector("[data-chooses]");
    const one = place.querySelector(":scope > select, :scope > input");
    const boxes = hw.all("label input", place).filter((box) => box.type === "checkbox");
    const options = one?.options ? [...one.options].filter((option) => option.value) : [];
    const all = [
      ...options.map((option) => [choiceOf(option.value, option.textContent), option.selected]),
      ...boxes.map((box) => [choiceOf(box.value, box.parentElement.textContent), box.checked]),
    ];
    const chosen = all.filter(([, isChosen]) => isChosen).map(([choice]) => choice);
    if (one && !one.options && one.value) chosen.push(choiceOf(one.value));
    return { choices: all.map(([choice]) => choice), chosen, own: place.querySelector(".own input")?.value ?? "" };
  };

  /** What was written, among the choices: by its label, by its value, or by its label in other letters. */
  const among = (choices, text) => {
    const lower = text.toLowerCase();
    return choices.find((one) => one.label === text) ?? choices.find((one) => one.text === text) ?? choices.find((one) => one.label.toLowerCase() === lower);
  };

  const build = (field, place) => {
    const isMany = place.dataset.chooses === "many";
    const control = place.querySelector("select, input");
    const name = `prop.${field.dataset.field}`;
    const id = isMany ? `${field.id}-choice` : control.id;
    const input = Object.assign(document.createElement("input"), { id });
    const describe = (as) => {
      for (const attribute of ["aria-describedby", "aria-invalid"]) {
        const value = !isMany && as.getAttribute(attribute);
        if (value) input.setAttribute(attribute, value);
        else input.removeAttribute(attribute);
      }
    };
    describe(control);
    if (isMany) Object.assign(input, { ariaLabel: "Options", placeholder: "Choose among the options" });
    const kept = document.createElement(isMany ? "ul" : "span");
    kept.className = isMany ? "chips chosen" : "chosen";
    let [state, search] = [read(field), null];
    const button = (kind) => hw.all(`button[value^="${kind}:"]`, field);
    const shown = () => (isMany ? "" : state.own || state.chosen[0]?.label || "");
    const isChosen = (choice) => state.chosen.some((one) => one.text === choice.text);
    const chip = (choice) => {
      const item = document.createElement("li");
      const remove = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: `${choice.label} ×`, ariaLabel: `Remove ${choice.label}` });
      remove.addEventListener("click", () => {
        take(choice);
        input.focus();
      });
      item.append(hidden(name, choice.text), remove);
      return item;
    };
    const render = () => {
      if (isMany) kept.replaceChildren(...state.chosen.map(chip));
      else kept.replaceChildren(hidden(name, state.chosen[0]?.text ?? ""), hidden(`own.${field.dataset.field}`, state.own));
      input.classList.toggle("of-own", state.own !== "" && state.choices.length > 0);
    };
    const settle = () => {
      render();
      kept.dispatchEvent(new Event("change", { bubbles: true }));
    };
    const take = (choice) => {
      if (isMany) state.chosen = isChosen(choice) ? state.chosen.filter((one) => one.text !== choice.text) : [...state.chosen, choice];
      else Object.assign(state, { chosen: [choice], own: "" });
      input.value = shown();
      popup[isMany ? "refresh" : "close"]();
      hw.say(`${choice.label}: ${isChosen(choice) ? "chosen" : "removed"}`);
      settle();
    };
    /** A text that is no option is a value of its own. */
    const leave = (isEntered = false) => {
      const text = input.value.trim();
      if (input.value === shown() || (isMany && !isEntered)) return;
      const choice = text && among(state.choices, text);
      if (choice) return take(choice);
      if (isMany) {
        if (text) hw.addItem(field, text);
        input.value = "";
      } else {
        Object.assign(state, { chosen: [], own: text });
        settle();
      }
    };
    const entries = (words) => {
      // An app that searches has found them already.
      const isSearched = search && field.querySelector('input[name^="loaded."]');
      const has = (text) => text.toLowerCase().includes(words);
      return words && !isSearched ? state.choices.filter(({ label, text }) => has(label) || has(text)) : state.choices;
    };
    const acts = () => (state.choices.length === 0 && !search ? button("load") : button("more"));

    const popup = hw.popup(input, { entries, isChosen, acts, take, leave, isMany });
    /** Buttons that the list has, and the field that the app searches by, are not shown twice. */
    const tidy = () => {
      search = field.querySelector(".loading [data-query]");
      if (search) {
        input.dataset.query = search.dataset.query;
        search.removeAttribute("data-query");
        search.type = "hidden";
      }
      for (const one of button("more")) one.hidden = true;
    };
    input.addEventListener("input", () => {
      if (search) search.value = input.value;
    });
    tidy();
    input.value = shown();
    render();
    place.replaceChildren(...(isMany ? [kept, input, popup.place] : [input, kept, popup.place]));
    place.removeAttribute("data-chooses");
    place.className = "chooser";

    choosers.set(field, (fresh) => {
      const isTyping = document.activeElement === input && input.value !== shown();
      state = read(fresh);
      const [loading, again] = [field, fresh].map((one) => one.querySelector(":scope > .loading"));
      const [told, wrong] = [field, fresh].map((one) => one.querySelector(":scope > .wrong"));
      loading.replaceWith(again);
      tidy();
      render();
      if (!isTyping) input.value = shown();
      popup.refresh();
      if (told?.dataset.fault === "missing" && !wrong && !hw.isFilled(field)) return;
      told?.remove();
      if (wrong) again.after(wrong);
      describe(fresh.querySelector("[aria-describedby]"));
    });
  };

  /** New options in a field that is in use, which stays; whether it is such a field. */
  hw.renewChoices = (field, fresh) => {
    const renew = choosers.get(field);
    if (!renew || !fresh?.querySelector("[data-chooses]")) return false;
    renew(fresh);
    return true;
  };

  hw.enableChoices = (within = document) => {
    for (const place of hw.all("[data-chooses]", within)) build(place.closest("[data-field]"), place);
  };
}
