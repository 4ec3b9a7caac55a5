// Live rows: new ones are put on top, at most once a frame, and old ones go, so that a page stays as large as it is.
// Paused or scrolled down, they are counted instead, and come when they are asked for.
{
  const MESSAGES_MAX = 500;
  const list = document.querySelector("[data-rows]");
  const ROWS_MAX = Number(list?.dataset.rowsMax ?? 500);

  if (hw.live?.bar && list) {
    const showNew = hw.live.bar.querySelector("[data-live-show]");
    const counter = hw.live.bar.querySelector("[data-live-count]");
    const parameters = hw.live.url.searchParams;
    let held = 0;
    let total = 0;
    let drawn = 0;
    // What comes again after a pause begins behind it.
    let shown = parameters.get("after");
    let waiting = [];

    /** The rows of the newest messages, as many as a page may have; older ones would go at once. */
    const taken = (messages) => {
      const found = [];
      for (const { html } of messages.reverse()) {
        if (found.length >= ROWS_MAX) break;
        found.push(...hw.fragment(`<table><tbody>${html}</tbody></table>`).querySelectorAll("tr"));
      }
      return found.slice(0, ROWS_MAX);
    };

    const draw = () => {
      const messages = waiting;
      waiting = [];
      let count = 0;
      for (const message of messages) count += message.count;
      // What the page was read with comes again where the two cannot be told apart before.
      const known = new Set([...list.children].map((row) => row.dataset.row));
      const found = taken(messages);
      const rows = found.filter((row) => !known.has(row.dataset.row));
      count -= found.length - rows.length;
      if (count === 0) return;
      for (const row of rows) row.classList.add("fresh");
      list.prepend(...rows);
      while (list.children.length > ROWS_MAX) list.lastElementChild.remove();
      const inAll = document.querySelector("[data-in-all]");
      if (inAll) {
        inAll.dataset.inAll = Number(inAll.dataset.inAll) + count;
        inAll.textContent = `${Number(inAll.dataset.inAll).toLocaleString("en")} in all`;
      }
      total += count;
      drawn += rows.length;
      const isWhole = drawn === total && total <= ROWS_MAX;
      counter.textContent = `${total.toLocaleString("en")} came since you opened this page${isWhole ? "" : "; the newest are shown"}`;
      for (const empty of hw.all("main > .empty, [data-part='reason'] > .empty")) empty.remove();
      hw.enableCopying(list);
      hw.say(count === 1 ? "1 new event" : `${count} new events`);
    };

    hw.live.hear("rows", ({ html, count }, id) => {
      parameters.set("after", id);
      if (count === 0) {
        if (!hw.live.isPaused) shown = id;
        return;
      }
      if (!hw.live.isPaused && scrollY > 200) hw.live.pause();
      if (hw.live.isPaused) {
        held += count;
        showNew.hidden = false;
        showNew.textContent = `Show ${held} new`;
        return;
      }
      shown = id;
      waiting.push({ html, count });
      if (waiting.length === 1) requestAnimationFrame(draw);
      // Without frames, what would not be shown is counted only.
      if (waiting.length > MESSAGES_MAX) waiting[1].count += waiting.shift().count;
    });

    hw.live.onResume(() => {
      held = 0;
      showNew.hidden = true;
      parameters.set("after", shown);
    });

    showNew.addEventListener("click", () => {
      scrollTo(0, 0);
      hw.live.resume();
    });
  }
}
