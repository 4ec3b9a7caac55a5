// The one stream of a page: rows and changes come over it. It is closed while nobody looks at the tab, opened again where
// it was, and paused by a button, which the blocks that show what comes hear of.
{
  const AGAIN_MS = 5_000;
  // Two handshakes of the node, which come every 15 s, and the way of the second.
  const SILENCE_MS = 35_000;
  const address = document.body.dataset.live;
  const bar = document.querySelector("[data-livebar]");
  const heard = [];
  const resumed = [];
  const state = { dot: bar?.querySelector(".dot"), word: bar?.querySelector("[data-live-state]") };
  const pause = bar?.querySelector("[data-live-pause]");
  let source = null;
  let timer = 0;
  let heardAt = Date.now();
  let lostAt = null;
  let farewell = null;

  const tell = (text, isOn) => {
    if (!bar) return;
    state.word.textContent = text;
    state.dot.classList.toggle("off", !isOn);
  };

  // Nothing at all for so long: the stream may be dead without a word, as where a network was left.
  const listen = () => {
    if (!source || document.hidden) return;
    if (Date.now() - heardAt > SILENCE_MS) tell(`No data since ${hw.clock(heardAt)}`, false);
  };

  const hearing = () => {
    const wasSilent = Date.now() - heardAt > SILENCE_MS;
    heardAt = Date.now();
    if (wasSilent) hw.live.tell();
  };

  const close = () => {
    clearTimeout(timer);
    source?.close();
    source = null;
  };

  /** The node says why the stream ends: for good, or until it is back. */
  const bid = ({ says, ends, signIn }) => {
    farewell = says;
    if (!ends) return;
    hw.live.stop(`${says}. `);
    if (!signIn || !bar) return;
    const link = document.createElement("a");
    link.href = `${signIn}?next=${encodeURIComponent(location.pathname + location.search)}`;
    link.textContent = "Sign in";
    state.word.append(link);
  };

  const open = () => {
    if (source || document.hidden || hw.live.hasEnded) return;
    source = new EventSource(hw.live.url);
    heardAt = Date.now();
    for (const [name, hear] of [["handshake", () => {}], ["bye", bid], ...heard]) {
      source.addEventListener(name, (message) => {
        hearing();
        hear(JSON.parse(message.data), message.lastEventId);
      });
    }
    source.addEventListener("open", () => {
      [lostAt, farewell] = [null, null];
      hw.live.tell();
    });
    source.addEventListener("error", () => {
      lostAt ??= Date.now();
      tell(`${farewell ?? "No connection"} since ${hw.clock(lostAt)}`, false);
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
    hear: (name, hear) => heard.push([name, hear]),
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
      if (pause) pause.hidden = true;
      tell(reason, false);
    },
  };

  if (hw.live) {
    if (bar) bar.hidden = false;
    pause?.addEventListener("click", () => (hw.live.isPaused ? hw.live.resume() : hw.live.pause()));
    document.addEventListener("visibilitychange", () => (document.hidden ? close() : open()));
    addEventListener("pagehide", close);
    setInterval(listen, AGAIN_MS);
    // When the blocks below have said what they listen to.
    queueMicrotask(open);
  }
}
