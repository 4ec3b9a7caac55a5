// Moments that count on: "5 s ago" is true for a second only. The person may have all of them as times instead, in UTC
// as the node writes them or in the zone of the browser.
{
  const UNITS = [["d", 86_400, 172_800], ["h", 3_600, 3_600], ["min", 60, 60], ["s", 1, 0]];
  const STORED = "headwater-times";
  const MINUTE_MS = 60_000;
  let times = "ago";

  // Where nothing may be stored, the choice lasts as long as the page.
  try {
    times = localStorage.getItem(STORED) ?? times;
  } catch {}

  const span = (seconds) => {
    const [unit, size] = UNITS.find(([, , from]) => seconds >= from);
    return `${Math.floor(seconds / size)} ${unit}`;
  };

  const relative = (moment) => {
    const seconds = Math.floor((Date.now() - moment) / 1_000);
    if (seconds < -1) return `in ${span(-seconds)}`;
    return seconds < 1 ? "now" : `${span(seconds)} ago`;
  };

  /** The moment with its zone, from and to a character of `2026-01-31 12:00:00.000`. */
  const written = (moment, from, to) => {
    const minutes = times === "local" ? -new Date(moment).getTimezoneOffset() : 0;
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    const zone = minutes === 0 ? "" : `${minutes < 0 ? "−" : "+"}${hours}${rest ? `:${String(rest).padStart(2, "0")}` : ""}`;
    return `${new Date(moment + minutes * MINUTE_MS).toISOString().replace("T", " ").slice(from, to)} UTC${zone}`;
  };

  /** The time of day, in the zone of the page. */
  hw.clock = (moment) => written(moment, 11, 19);

  /** Writes all moments anew. */
  hw.tick = (within = document) => {
    for (const time of hw.all("time[data-ago], time[data-exact]", within)) {
      const moment = Date.parse(time.dateTime);
      // Beyond the calendar.
      if (Number.isNaN(moment)) continue;
      const isRelative = "ago" in time.dataset && times === "ago";
      const text = isRelative ? relative(moment) : written(moment, 0, "ago" in time.dataset ? 19 : 23);
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

  for (const choices of hw.all("[data-times]")) {
    const buttons = hw.all("button", choices);
    const press = () => {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === times));
    };
    choices.hidden = false;
    press();
    choices.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      times = button.value;
      try {
        localStorage.setItem(STORED, times);
      } catch {}
      press();
      hw.tick();
    });
  }

  hw.tick();
  setInterval(() => {
    if (document.hidden) return;
    hw.tick();
    count();
  }, 1_000);
}
