// Forms of props: options are found while one types, and what a button loads takes the place of its field only. Without
// this script the same buttons send the form and get it back.
{
  const QUIET_MS = 250;
  const form = document.querySelector("form[data-props]");
  const running = new Map();
  // Fields whose options were asked for without a button: once each, until what is above them changes.
  const asked = new Set();

  const fieldOf = (prop, within = form) =>
    hw.all("[data-field]", within).find((field) => field.dataset.field === prop);

  /** Puts rendered elements in the place of others. What the node never sends back, and the focus, stay. */
  const replace = (old, fresh) => {
    const focused = document.activeElement?.id;
    const selection = document.activeElement?.selectionStart;
    for (const secret of hw.all('input[type="password"], textarea[autocomplete="off"]', old)) {
      const again = fresh.querySelector(`#${CSS.escape(secret.id)}`);
      if (!again || again.value || !secret.value || again.placeholder !== secret.placeholder) continue;
      again.value = secret.value;
      for (const note of hw.all(".again", again.parentElement)) note.remove();
    }
    const open = hw.all("details[open] > summary", old).map((summary) => summary.textContent);
    for (const details of hw.all("details", fresh)) {
      if (open.includes(details.querySelector("summary")?.textContent)) details.open = true;
    }
    old.replaceWith(fresh);
    const again = focused && document.getElementById(focused);
    if (!again) return;
    again.focus({ preventScroll: true });
    if (typeof selection === "number" && again.setSelectionRange) again.setSelectionRange(selection, selection);
  };

  /** Sends the form as the button would, and shows what comes back of the field, or of all fields. */
  const send = async (action, prop) => {
    running.get(action)?.abort();
    const control = new AbortController();
    running.set(action, control);
    const place = prop === undefined ? form.querySelector("[data-fields]") : fieldOf(prop);
    place?.setAttribute("aria-busy", "true");
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    try {
      const answer = await fetch(form.getAttribute("action"), { method: "POST", body, signal: control.signal });
      const page = hw.fragment(await answer.text());
      const fresh = page.querySelector("form[data-props]");
      if (!fresh) {
        if (answer.status === 401) hw.tellAbove(form, "You are signed out. All that you have entered is still here.", "/signin");
        else hw.tellAbove(form, `${page.querySelector("h1")?.textContent ?? "The node refused it"}. All that you have entered is still here.`);
        return place?.removeAttribute("aria-busy");
      }
      if (prop === undefined) {
        const carried = form.querySelector('input[name="additional"]');
        const again = fresh.querySelector('input[name="additional"]');
        carried?.remove();
        if (again) form.prepend(again);
        replace(place, fresh.querySelector("[data-fields]"));
        hw.say("The fields are up to date");
      } else {
        replace(place, fieldOf(prop, fresh));
        hw.say(fieldOf(prop)?.querySelector("[role=status]")?.textContent ?? "");
      }
      hw.enableCopying(form);
      hw.enableEditors(form);
      hw.showTrial(page, form);
      const errors = page.querySelector(".summary-of-errors");
      if (prop === undefined) for (const former of hw.all(".summary-of-errors")) former.remove();
      hw.showSummary(errors && (prop === undefined || !fieldOf(prop)?.querySelector(".wrong")) ? errors : null, form);
    } catch (error) {
      if (error.name === "AbortError") return;
      hw.tellAbove(form, "The node did not answer. All that you have entered is still here: press the button again.");
      place?.removeAttribute("aria-busy");
    }
  };

  const isFilled = (field) =>
    hw.all("input:not([type=hidden]):not([type=search]), select, textarea", field).some((control) =>
      ["radio", "checkbox"].includes(control.type) ? control.checked && control.value : control.value);

  /** Loads the options of fields that have none yet, from the top, as far as all that is needed above is there. */
  const loadNext = async () => {
    const accounts = hw.all("[data-needed]", form).filter((field) => field.querySelector("[data-connects]"));
    if (!accounts.every(isFilled)) return;
    for (const field of hw.all("[data-field]", form)) {
      const prop = field.dataset.field;
      const button = field.querySelector('button[value^="load:"]');
      if (button && !field.querySelector('input[name^="loaded."]') && !asked.has(prop)) {
        asked.add(prop);
        await send(button.value, prop);
        return loadNext();
      }
      if (field.hasAttribute("data-needed") && !isFilled(field)) return;
    }
  };

  if (form) {
    let timer = 0;
    // A link must not run code with the accounts of whoever follows it: only a page of this site that leads here does.
    const from = document.referrer && new URL(document.referrer);
    const isOwnWay = from && from.origin === location.origin && /^\/(deploy|sources)(\/|$)/.test(from.pathname);
    if (isOwnWay && form.querySelector("[data-connects]") && !/[?&][a-z]+\./.test(location.search)) loadNext();

    form.addEventListener("submit", (event) => {
      const action = event.submitter?.value ?? "";
      const [kind, ...rest] = action.split(":");
      if (["load", "more"].includes(kind)) send(action, rest.join(":"));
      else if (["reload", "accounts"].includes(action)) send(action).then(loadNext);
      else if (action === "try") send(action);
      else return;
      event.preventDefault();
    });

    form.addEventListener("input", (event) => {
      const prop = event.target.dataset.query;
      if (prop === undefined) return;
      clearTimeout(timer);
      timer = setTimeout(() => send(`load:${prop}`, prop), QUIET_MS);
    });

    form.addEventListener("change", (event) => {
      const field = event.target.closest("[data-reloads]");
      if (event.target.dataset.query !== undefined) return;
      if (event.target.type === "radio" && event.target.closest("[data-field]")?.querySelector("[data-connects]")) asked.clear();
      if (field) send("reload").then(loadNext);
      else if (form.querySelector("[data-connects]")) loadNext();
    });

    // Whoever comes back from connecting an account finds it here.
    let isConnecting = false;
    form.addEventListener("click", (event) => {
      if (event.target.closest("[data-connects]")) isConnecting = true;
    });
    addEventListener("focus", () => {
      if (isConnecting) send("accounts").then(loadNext);
    });
  }
}
