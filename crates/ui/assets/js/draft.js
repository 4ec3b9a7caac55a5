// Drafts: code that was changed and not saved is kept in this browser, and offered where it was written.
{
  const KEPT_MS = 7 * 24 * 3_600_000;
  const QUIET_MS = 400;
  const field = document.querySelector("textarea[data-draft]");
  const key = () => hw.DRAFTS + location.pathname;

  /** Where nothing may be stored, there are no drafts. */
  const stored = (work) => {
    try {
      return work(localStorage);
    } catch {
      return null;
    }
  };
  const drop = (name) => stored((all) => all.removeItem(name));
  const draftOf = (name) => stored((all) => JSON.parse(all.getItem(name)));
  const names = () => stored((all) => Object.keys(all).filter((name) => name.startsWith(hw.DRAFTS))) ?? [];

  const keep = () => stored((all) => all.setItem(key(), JSON.stringify({ code: field.value, at: Date.now() })));
  const isOpen = () => field.dataset.draft === "open" || field.value !== field.defaultValue;

  const offer = ({ code, at }) => {
    const place = document.createElement("p");
    place.className = "banner draft";
    place.setAttribute("role", "status");
    const button = (textContent, work) => {
      const one = Object.assign(document.createElement("button"), { type: "button", textContent });
      one.addEventListener("click", () => {
        work();
        place.remove();
      });
      return one;
    };
    const restore = () => {
      hw.fillCode(field, code);
      field.dispatchEvent(new Event("input", { bubbles: true }));
      field.focus();
    };
    place.append(`A draft of ${new Date(at).toLocaleString()} was not saved. `, button("Restore it", restore), " ", button("Discard it", () => drop(key())));
    field.closest("form").before(place);
  };

  /** Code that the node has saved meanwhile is no draft. */
  hw.settleDraft = (page) => {
    const fresh = page.querySelector("textarea[data-draft]");
    if (!field || fresh?.dataset.draft !== "saved" || fresh.value !== field.value) return;
    field.dataset.draft = "saved";
    field.defaultValue = field.value;
    drop(key());
  };

  if (field) {
    const draft = draftOf(key());
    for (const name of names()) {
      const { code, at } = draftOf(name) ?? {};
      const isSaved = field.dataset.draft === "saved" && code === field.defaultValue;
      if (isSaved || !(Date.now() - at < KEPT_MS)) drop(name);
    }
    if (field.dataset.draft === "open") keep();
    else if (draftOf(key()) && draft.code !== field.value) offer(draft);
    let timer = 0;
    const now = () => {
      clearTimeout(timer);
      timer = 0;
      if (isOpen()) keep();
      else drop(key());
    };
    field.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(now, QUIET_MS);
    });
    addEventListener("pagehide", () => timer && now());
  }
}
