// The one stream of a page: rows and changes come over it. It is closed while nobody looks at the tab, opened again where
// it was, and paused by a button, which the blocks that show what comes hear of.
{
  const AGAIN_MS = 5_000;
  const address = document.body.dataset.live;
  const bar = document.querySelector("[data-livebar]");
  const heard = [];
  const resumed = [];
  const state = { dot: bar?.querySelector(".dot"), word: bar?.querySelector("[data-live-state]") };
  const pause = bar?.querySelector("[data-live-pause]");
  let source = null;
  let timer = 0;
  let lostAt = null;

  const tell = (text, isOn) => {
    if (!bar) return;
    state.word.textContent = text;
    state.dot.classList.toggle("off", !isOn);
  };

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };

  const open = () => {
    if (source || document.hidden || hw.live.hasEnded) return;
    source = new EventSource(hw.live.url);
    for (const [name, hear] of heard) source.addEventListener(name, hear);
    source.addEventListener("open", () => {
      lostAt = null;
      hw.live.tell();
    });
    source.addEventListener("error", () => {
      lostAt ??= new Date().toLocaleTimeString();
      tell(`No connection since ${lostAt}`, false);
      if (source?.readyState !== EventSource.CLOSED) return;
      close();
      timer = setTimeout(open, AGAIN_MS);
    });
  };

  /** The stream, or nothing on a page that follows nothing. */
  hw.live = address && {
    url: new URL(address, location),
    bar,
    isPaused: false,
    hasEnded: false,
    hear: (name, hear) => heard.push([name, (message) => hear(JSON.parse(message.data), message.lastEventId)]),
    onResume: (hear) => resumed.push(hear),
    tell: () => tell(hw.live.isPaused ? "On hold" : "Live", !hw.live.isPaused),
    /** Holds back what comes, as if the button was pressed. */
    pause: () => {
      hw.live.isPaused = true;
      if (pause) pause.textContent = "Go on updating";
      hw.live.tell();
    },
    resume: () => {
      hw.live.isPaused = false;
      if (pause) pause.textContent = "Hold updates";
      for (const hear of resumed) hear();
      // What was held back comes again, from what is shown on.
      close();
      open();
    },
    /** There is nothing more to follow. */
    end: () => {
      hw.live.hasEnded = true;
      close();
      if (bar) bar.hidden = true;
    },
    /** The page cannot follow any more, and says why. */
    stop: (reason) => {
      hw.live.hasEnded = true;
      close();
      tell(reason, false);
    },
  };

  if (hw.live) {
    if (bar) bar.hidden = false;
    pause?.addEventListener("click", () => (hw.live.isPaused ? hw.live.resume() : hw.live.pause()));
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
    // When the blocks below have said what they listen to.
    queueMicrotask(open);
  }
}
