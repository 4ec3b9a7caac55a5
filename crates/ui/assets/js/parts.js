// Parts of a page that follow what happens: when the stream says that something has changed, the page is fetched again,
// and what differs in its parts takes the place of what was there. What is open, focused or being written stays.
{
  const SOON_MS = 1_500;
  const GROWS_MS = 5_000;
  const parts = hw.all("[data-part]");
  let isFetching = false;
  let isBehind = false;
  let timer = 0;

  // Not `node.id`: in a form, that is the field which is named so.
  const keyOf = (node) => node.dataset?.row ?? node.getAttribute?.("id") ?? "";

  /** What the person does to an element is not the node's. */
  const isOwn = (element, name) => name === "open" || (name === "hidden" && element.matches("[data-copy]"));

  /** Makes an element as the other is, keeping all that does not differ. */
  const become = (old, fresh) => {
    if (old.isEqualNode(fresh)) return;
    if (old.nodeType !== Node.ELEMENT_NODE) {
      old.nodeValue = fresh.nodeValue;
      return;
    }
    if (old.matches("input, textarea, select, .editor")) return;
    for (const { name } of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && !isOwn(old, name)) old.removeAttribute(name);
    }
    for (const { name, value } of fresh.attributes) {
      if (old.getAttribute(name) !== value && !isOwn(old, name)) old.setAttribute(name, value);
    }
    const keyed = new Map([...old.childNodes].filter(keyOf).map((child) => [keyOf(child), child]));
    let at = old.firstChild;
    for (const child of [...fresh.childNodes]) {
      const key = keyOf(child);
      let match = key ? keyed.get(key) : at && !keyOf(at) ? at : null;
      if (match?.nodeName !== child.nodeName) match = null;
      if (!match) old.insertBefore(child, at);
      else if (match === at) at = at.nextSibling;
      else old.insertBefore(match, at);
      if (match) become(match, child);
    }
    while (at) {
      const next = at.nextSibling;
      at.remove();
      at = next;
    }
  };

  /** Whether somebody writes or selects in a part, which is then left alone. */
  const isInUse = (part) => {
    const selection = getSelection();
    if (!selection.isCollapsed && part.contains(selection.anchorNode)) return true;
    return hw.all("textarea, input:not([type='hidden'], [type='checkbox'])", part).some((field) => field === document.activeElement || field.value !== field.defaultValue);
  };

  const soon = (ms = SOON_MS) => {
    clearTimeout(timer);
    timer = setTimeout(renew, ms);
  };

  const show = (page) => {
    const goesOn = hw.all("[data-goes-on]").length > 0;
    for (const part of parts) {
      const fresh = page.querySelector(`[data-part="${part.dataset.part}"]`);
      if (fresh) become(part, fresh);
    }
    hw.enableCopying();
    hw.tick();
    hw.countSelected();
    if (goesOn && hw.all("[data-goes-on]").length === 0) {
      hw.live.end();
      hw.say("The run has ended");
    }
  };

  /** Fetches the page again, one at a time. */
  const renew = async () => {
    if (hw.live.isPaused || document.hidden || isFetching) {
      isBehind = true;
      return;
    }
    if (parts.some(isInUse)) {
      soon();
      return;
    }
    [isFetching, isBehind] = [true, false];
    try {
      const answer = await fetch(location.href);
      // Whoever is signed out is sent to another page; a thing that is gone does not come back.
      const isOver = answer.redirected || [401, 403, 404].includes(answer.status);
      if (isOver) hw.live.stop("This page cannot be loaded again. Load it yourself.");
      else if (answer.ok) show(hw.fragment(await answer.text()));
      else soon(GROWS_MS);
    } catch {
      soon(GROWS_MS);
    }
    isFetching = false;
    if (isBehind) soon();
    else if (!hw.live.hasEnded && hw.all("[data-goes-on]").length > 0) soon(GROWS_MS);
  };

  if (hw.live && parts.length > 0) {
    hw.live.hear("changed", ({ since }) => {
      hw.live.url.searchParams.set("since", since);
      renew();
    });
    hw.live.onResume(() => {
      if (isBehind) renew();
    });
    document.addEventListener("visibilitychange", () => {
      if (isBehind) renew();
    });
    if (hw.all("[data-goes-on]").length > 0) soon(GROWS_MS);
  }
}
