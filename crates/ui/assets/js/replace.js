// Rendered fields in the place of others. What the node never sends back, the focus, what is being typed, and that a value
// is missing as long as it is, stay.
{
  hw.fieldOf = (prop, within = document) => hw.all("[data-field]", within).find((field) => field.dataset.field === prop);

  hw.isFilled = (field) =>
    hw.all("input:not([type=hidden], [type=search]), .chips input, select, textarea", field).some((control) =>
      ["radio", "checkbox"].includes(control.type) ? control.checked && control.value : control.value);

  /** The times that follow from a timer: its controls are in use, and stay. */
  hw.replaceTimes = (old, fresh) => {
    const [was, now] = [old, fresh].map((field) => field.querySelector(":scope > .ticks"));
    const isFocused = was?.contains(document.activeElement);
    if (now) now.open = was?.open;
    for (const wrong of hw.all(":scope > .wrong", old)) wrong.remove();
    for (const control of hw.all("[aria-invalid]", old)) control.removeAttribute("aria-invalid");
    old.setAttribute("aria-describedby", fresh.getAttribute("aria-describedby"));
    was?.remove();
    if (now) old.append(now);
    if (isFocused) now?.querySelector("summary")?.focus();
  };

  /** Tells of a field that a value is missing, as it was told before. */
  const tellMissing = (told) => {
    const field = hw.fieldOf(told.closest("[data-field]").dataset.field);
    const id = told.id.replace(/-wrong$/, "");
    const control = document.getElementById(id);
    if (!field?.contains(control) || hw.isFilled(field) || field.querySelector(".wrong")) return;
    field.insertBefore(told, field.querySelector(":scope > .reload"));
    control.setAttribute("aria-describedby", `${told.id} ${id}-hint`);
    if (control !== field) control.setAttribute("aria-invalid", "true");
  };

  hw.replaceFields = (old, fresh) => {
    if (old.matches("[data-schedule]")) return hw.replaceTimes(old, fresh);
    const focused = document.activeElement;
    const isWithin = old.contains(focused);
    const wasOpen = focused?.getAttribute("aria-expanded") === "true";
    const fieldName = focused?.closest("[data-field]")?.dataset.field;
    const isTyped = isWithin && focused.matches("select, textarea, input:not([type=radio], [type=checkbox], [type=hidden])");
    const [start, end, typed] = isTyped ? [focused.selectionStart, focused.selectionEnd, focused.value] : [];
    const isRenewed = hw.renewChoices(old, fresh);
    if (!isRenewed) hw.enableFields(fresh);
    for (const secret of hw.all("[data-secret]", old)) {
      const again = hw.all("[data-secret]", fresh).find((one) => one.name === secret.name);
      if (!again || again.value || !secret.value || again.placeholder !== secret.placeholder) continue;
      for (const note of hw.all(".again", again.closest("[data-field]"))) note.remove();
      const [list, items] = [again, secret].map((one) => one.closest(".list"));
      if (list && items) list.replaceWith(items);
      else again.value = secret.value;
    }
    const open = hw.all("details[open]", old).map((details) => details.className);
    for (const details of hw.all("details", fresh)) if (open.includes(details.className)) details.open = true;
    if (!isRenewed) old.replaceWith(fresh);
    hw.all(".wrong[data-fault=missing]", old).forEach(tellMissing);
    let again = focused?.id && document.getElementById(focused.id);
    if (!again && isWithin) {
      // Buttons and boxes have no ids: the same one has the same name and value.
      const field = hw.fieldOf(fieldName);
      const controls = field ? hw.all("button, select, textarea, input:not([type=hidden])", field) : [];
      again = controls.find((one) => one.name === focused.name && one.value === focused.value) ?? controls[0];
    }
    if (!again || again === document.activeElement) return;
    const isThere = !again.options || hw.all("option", again).some((option) => option.value === typed);
    if (isTyped && isThere && again.matches("select, textarea, input")) again.value = typed;
    again.focus({ preventScroll: true });
    if (typeof start === "number" && again.setSelectionRange) again.setSelectionRange(start, end);
    if (wasOpen && again.role === "combobox") again.click();
  };
}
