// Live rows: one stream for the page, closed while nobody looks at it. New rows are put on top, at most once a frame;
// paused or scrolled down, they are counted instead, and come when they are asked for.
{
  const ROWS_MAX = 500;
  const bar = document.querySelector("[data-livebar]");
  const list = document.querySelector("[data-rows]");
  const address = document.body.dataset.live;

  if (address && bar && list) {
    const dot = bar.querySelector(".dot");
    const word = bar.querySelector("[data-live-state]");
    const pause = bar.querySelector("[data-live-pause]");
    const showNew = bar.querySelector("[data-live-show]");
    let stream = null;
    let isPaused = false;
    let counted = 0;
    let waiting = [];
    let last = new URL(address, location).searchParams.get("after");
    let seen = last;

    const tell = (text, isOn) => {
      word.textContent = text;
      dot.classList.toggle("off", !isOn);
    };

    const draw = () => {
      const messages = waiting;
      waiting = [];
      let count = 0;
      for (const { html, count: rows, id } of messages) {
        const rendered = hw.fragment(`<table><tbody>${html}</tbody></table>`).querySelector("tbody");
        for (const row of rendered.children) row.classList.add("fresh");
        list.prepend(...rendered.children);
        count += rows;
        last = id;
      }
      while (list.children.length > ROWS_MAX) list.lastElementChild.remove();
      document.querySelector("main .empty")?.remove();
      hw.enableCopying(list);
      hw.say(count === 1 ? "1 new event" : `${count} new events`);
    };

    const receive = (message) => {
      const { html, count } = JSON.parse(message.data);
      seen = message.lastEventId;
      if (isPaused || scrollY > 200) {
        counted += count;
        showNew.hidden = false;
        showNew.textContent = `Show ${counted} new`;
        isPaused = true;
        return;
      }
      waiting.push({ html, count, id: message.lastEventId });
      if (waiting.length === 1) requestAnimationFrame(draw);
    };

    const open = () => {
      if (stream) return;
      const url = new URL(address, location);
      url.searchParams.set("after", isPaused ? seen : last);
      stream = new EventSource(url);
      stream.addEventListener("open", () => tell(isPaused ? "Paused" : "Live", !isPaused));
      stream.addEventListener("rows", receive);
      stream.addEventListener("error", () => {
        tell(`No connection since ${new Date().toLocaleTimeString()}`, false);
        if (stream.readyState === EventSource.CLOSED) {
          close();
          setTimeout(open, 5_000);
        }
      });
    };

    const close = () => {
      stream?.close();
      stream = null;
    };

    const go = () => {
      isPaused = false;
      counted = 0;
      showNew.hidden = true;
      pause.textContent = "Pause";
      // What was counted comes again, from the last row that is shown.
      close();
      open();
    };

    pause.addEventListener("click", () => {
      if (isPaused) return go();
      isPaused = true;
      pause.textContent = "Resume";
      tell("Paused", false);
    });
    showNew.addEventListener("click", () => {
      scrollTo(0, 0);
      go();
    });
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);

    bar.hidden = false;
    open();
  }
}
