// Fields beside a choice, such as the number of an interval: writing there chooses it. Times that follow from another choice
// are paler until those of this one come.
document.addEventListener("input", (event) => {
  const radio = event.target.closest("form[data-props] .choice")?.querySelector('input[type="radio"]');
  if (!radio) return;
  event.target.closest("[data-field]")?.querySelector(".ticks")?.setAttribute("aria-busy", "true");
  if (radio === event.target || radio.checked) return;
  radio.checked = true;
  radio.dispatchEvent(new Event("change", { bubbles: true }));
});
