// Keys: `/` searches, `g s` goes to sources, `j` and `k` move along rows, `Enter` or `o` opens, `x` selects, `e` opens all
// of a step, `Esc` leaves, `?` names them all. They can be switched off in a browser, in the dialog that names them.
{
  const SEQUENCE_MS = 1_200;
  const STORED = "headwater-keys";
  const help = document.querySelector("dialog[data-help]");
  let before = "";
  let at = 0;
  let areOff = false;

  // Where nothing may be stored, the choice lasts as long as the page.
  try {
    areOff = localStorage.getItem(STORED) === "off";
  } catch {}

  const isTyping = (target) =>
    target.closest("input:not([type='checkbox'], [type='radio']), textarea, select, [contenteditable], .editor") !== null;

  const STEP = "details[id^='step-']";
  const ROW = `table.list tbody tr, .cards > li, article.card, ${STEP}`;

  // A row may name the link that is its own; otherwise it is the one in its head.
  const main = (row) => (row.matches(STEP) ? row.querySelector("summary") : (row.querySelector("a[data-main]") ?? row.querySelector("th a") ?? row.querySelector("a")));

  const rowOf = (element) => element?.closest(ROW);

  const move = (step) => {
    const all = hw.all(ROW, document.querySelector("main")).filter((row) => row.checkVisibility() && main(row));
    if (all.length === 0) return;
    const current = all.indexOf(rowOf(document.activeElement));
    main(all[Math.min(Math.max(current + step, 0), all.length - 1)]).focus();
  };

  const unfold = () => {
    const step = document.activeElement?.closest(STEP);
    if (!step) return;
    const all = [step, ...hw.all("details", step)];
    const isOpen = all.some((one) => !one.open);
    for (const one of all) one.open = isOpen;
  };

  const openHelp = () => {
    for (const row of hw.all("[data-when]", help)) row.hidden = document.querySelector(row.dataset.when) === null;
    help.querySelector("[data-keys-on]").checked = !areOff;
    help.showModal();
  };

  const single = {
    j: () => move(1),
    k: () => move(-1),
    o: () => {
      const row = rowOf(document.activeElement);
      if (row) main(row).click();
    },
    e: unfold,
    x: () => document.activeElement?.closest("tr")?.querySelector("input[form='selection']")?.click(),
    ...(help ? { "?": openHelp } : {}),
  };

  // What was written would be lost.
  const isWritten = (field) => (field.matches("select") ? [...field.options].some((one) => one.selected !== one.defaultSelected) : field.value !== field.defaultValue || field.checked !== field.defaultChecked);

  /** Leaves a field, or closes what is open; then goes to the page above. Dialogs close by themselves. */
  const leave = (target) => {
    const popover = document.querySelector(".person[open]");
    if (popover) {
      popover.open = false;
      popover.querySelector("summary").focus();
    } else if (target.matches("input, select, textarea")) target.blur();
    else if (!areOff && !target.closest(".editor") && !hw.all("main :is(input, textarea, select)").some(isWritten)) hw.all("main .crumbs a").at(-1)?.click();
  };

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return leave(event.target);
    if (areOff || isTyping(event.target)) return;
    const now = Date.now();
    const sequence = now - at < SEQUENCE_MS ? `${before} ${event.key}` : "";
    [before, at] = [event.key, now];
    const named = (name, keys) => hw.all(`[${name}]`).find((one) => one.getAttribute(name) === keys && !one.hidden);
    const element = (sequence && named("data-keys", sequence)) || named("data-key", event.key);
    if (!element && !Object.hasOwn(single, event.key)) return;
    event.preventDefault();
    if (!element) single[event.key]();
    else if (element.matches("input, select, textarea")) element.focus();
    else element.click();
  });

  help?.addEventListener("change", (event) => {
    areOff = !event.target.checked;
    try {
      if (areOff) localStorage.setItem(STORED, "off");
      else localStorage.removeItem(STORED);
    } catch {}
  });

  for (const button of hw.all("[data-opens-help]")) {
    button.hidden = false;
    button.addEventListener("click", openHelp);
  }
}
