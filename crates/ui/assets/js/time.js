// Moments that count on: "5 s ago" is true for a second only.
{
  const UNITS = [["d", 86_400, 172_800], ["h", 3_600, 3_600], ["min", 60, 60], ["s", 1, 0]];

  const span = (seconds) => {
    const [unit, size] = UNITS.find(([, , from]) => seconds >= from);
    return `${Math.floor(seconds / size)} ${unit}`;
  };

  const relative = (moment) => {
    const seconds = Math.floor((Date.now() - moment) / 1_000);
    if (seconds < -1) return `in ${span(-seconds)}`;
    return seconds < 1 ? "now" : `${span(seconds)} ago`;
  };

  /** Writes all moments anew. */
  hw.tick = (within = document) => {
    for (const time of hw.all("time[data-ago]", within)) {
      const text = relative(Date.parse(time.dateTime));
      if (time.textContent !== text) time.textContent = text;
    }
  };

  const count = () => {
    for (const element of hw.all("[data-countdown]")) {
      const left = Number(element.dataset.countdown) - 1;
      element.dataset.countdown = Math.max(left, 0);
      element.textContent = left > 0 ? `${left} s` : "a moment";
    }
  };

  setInterval(() => {
    if (document.hidden) return;
    hw.tick();
    count();
  }, 1_000);
}
