// A page about something that goes on: it is fetched again while that has not ended, and its changed part replaced.
// What is open stays open, and nothing is replaced under somebody who writes or selects.
{
  const EVERY_MS = 2_000;
  let part = document.querySelector("[data-refresh='on']");

  if (part) {
    let isPaused = false;
    let shown = "";

    const tell = (text, isOn) => {
      const state = part.querySelector("[data-refresh-state]");
      if (!state) return;
      state.textContent = text;
      part.querySelector(".dot").classList.toggle("off", !isOn);
    };

    const isInUse = () => {
      const selection = getSelection();
      const isSelecting = !selection.isCollapsed && part.contains(selection.anchorNode);
      const fields = hw.all("textarea, input:not([type='hidden'])", part);
      return isSelecting || fields.some((field) => field === document.activeElement || field.value !== field.defaultValue);
    };

    const prepare = () => {
      const pause = part.querySelector("[data-refresh-pause]");
      const bar = part.querySelector("[data-refresh-bar]");
      if (!pause || !bar) return;
      bar.hidden = pause.hidden = false;
      pause.textContent = isPaused ? "Resume" : "Pause";
      pause.addEventListener("click", () => {
        isPaused = !isPaused;
        pause.textContent = isPaused ? "Resume" : "Pause";
        tell(isPaused ? "Paused" : "Follows the run", !isPaused);
      });
    };

    const replace = (next) => {
      const open = new Map(hw.all("details[id]", part).map((details) => [details.id, details.open]));
      const focused = part.contains(document.activeElement) ? document.activeElement : null;
      const [id, address] = [focused?.id, focused?.getAttribute("href")];
      for (const details of hw.all("details[id]", next)) {
        if (open.has(details.id)) details.open = open.get(details.id);
      }
      part.replaceWith(next);
      part = next;
      hw.enableCopying(part);
      hw.tick(part);
      prepare();
      const again = id ? document.getElementById(id) : address && hw.all("a[href]", part).find((link) => link.getAttribute("href") === address);
      again?.focus({ preventScroll: true });
    };

    const look = async () => {
      if (document.hidden || isPaused || isInUse()) return true;
      const response = await fetch(location.href);
      const next = hw.fragment(await response.text()).querySelector("[data-refresh]");
      if (!response.ok || !next) {
        tell("The page cannot be loaded again", false);
        return false;
      }
      const html = next.outerHTML;
      const hasEnded = next.dataset.refresh === "off";
      if (html !== shown) {
        shown = html;
        replace(next);
      }
      if (hasEnded) hw.say("The run has ended");
      return !hasEnded;
    };

    const follow = async () => {
      let goesOn = true;
      try {
        goesOn = await look();
      } catch {
        tell(`No connection since ${new Date().toLocaleTimeString()}`, false);
      }
      if (goesOn) setTimeout(follow, EVERY_MS);
    };

    prepare();
    setTimeout(follow, EVERY_MS);
  }
}
