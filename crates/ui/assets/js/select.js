// Rows that are selected: all of a page at once, several with Shift, and how many they are. Without this script the boxes
// are sent as they are, and a link checks all of them.
{
  const boxes = () => hw.all('input[form="selection"]');
  let last;

  /** Says how many rows are selected, and offers the acts on them. */
  hw.countSelected = () => {
    const all = boxes();
    const count = all.filter((box) => box.checked).length;
    for (const box of all) box.closest("tr").classList.toggle("chosen", box.checked);
    for (const button of hw.all("#selection button")) button.disabled = count === 0;
    const link = document.querySelector("[data-selects-all]");
    if (!link) return;
    link.textContent = count > 0 && count === all.length ? "Select none" : "Select all on this page";
    document.querySelector("[data-selected]").textContent = count === 0 ? "" : `${count} selected`;
  };

  /** Checks the boxes between two. */
  const extend = (from, to) => {
    const all = boxes();
    const ends = [all.indexOf(from), all.indexOf(to)].sort((one, other) => one - other);
    if (ends[0] < 0) return;
    for (const box of all.slice(ends[0], ends[1] + 1)) box.checked = to.checked;
  };

  document.addEventListener("click", (event) => {
    const link = event.target.closest("[data-selects-all]");
    const box = event.target.closest('input[form="selection"]');
    if (link) {
      event.preventDefault();
      const isAll = boxes().every((one) => one.checked);
      for (const one of boxes()) one.checked = !isAll;
    } else if (box) {
      if (event.shiftKey && last) extend(last, box);
      last = box;
    } else return;
    hw.countSelected();
    hw.say(document.querySelector("[data-selected]").textContent || "Nothing is selected");
  });

  hw.countSelected();
}
