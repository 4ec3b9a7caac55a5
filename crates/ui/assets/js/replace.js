// Rendered fields in the place of others. What the node never sends back, the focus, and what is being typed stay.
hw.replaceFields = (old, fresh) => {
  const focused = document.activeElement;
  const isTyped = old.contains(focused) && focused.matches("textarea, input:not([type=radio], [type=checkbox], [type=hidden])");
  const [start, end, typed] = isTyped ? [focused.selectionStart, focused.selectionEnd, focused.value] : [];
  for (const secret of hw.all('input[type="password"], textarea[autocomplete="off"]', old)) {
    const again = fresh.querySelector(`#${CSS.escape(secret.id)}`);
    if (!again || again.value || !secret.value || again.placeholder !== secret.placeholder) continue;
    again.value = secret.value;
    for (const note of hw.all(".again", again.parentElement)) note.remove();
  }
  const open = hw.all("details[open]", old).map((details) => details.className);
  for (const details of hw.all("details", fresh)) if (open.includes(details.className)) details.open = true;
  old.replaceWith(fresh);
  const again = focused?.id && document.getElementById(focused.id);
  if (!again || again === document.activeElement) return;
  if (isTyped && again.matches("textarea, input")) again.value = typed;
  again.focus({ preventScroll: true });
  if (typeof start === "number" && again.setSelectionRange) again.setSelectionRange(start, end);
};
