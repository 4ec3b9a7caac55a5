// Keys: `/` searches, `g s` goes to sources, `j` and `k` move along rows, `Enter` opens. All can be switched off.
{
  const SEQUENCE_MS = 1_200;
  let before = "";
  let at = 0;

  const isTyping = (target) =>
    target.closest("input, textarea, select, [contenteditable], .editor") !== null;

  const areOff = () => {
    try {
      return localStorage.getItem("headwater-keys") === "off";
    } catch {
      return false;
    }
  };

  const move = (step) => {
    const links = hw.all("table.list tbody tr th a, table.list tbody tr td:first-child a");
    if (links.length === 0) return;
    const current = links.indexOf(document.activeElement);
    const next = Math.min(Math.max(current + step, 0), links.length - 1);
    links[next].focus();
  };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || areOff()) return;
    const now = Date.now();
    const sequence = now - at < SEQUENCE_MS ? `${before} ${event.key}` : "";
    [before, at] = [event.key, now];
    const byKeys = sequence && document.querySelector(`[data-keys="${CSS.escape(sequence).replaceAll("\\ ", " ")}"]`);
    const byKey = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
    const element = byKeys || byKey;
    if (element) {
      event.preventDefault();
      if (element.matches("input, select, textarea")) element.focus();
      else element.click();
    } else if (event.key === "j") move(1);
    else if (event.key === "k") move(-1);
  });
}
