// Forms of props: options are found while one types, and what a button loads takes the place of its field only. Without
// this script the same buttons send the form and get it back.
{
  const QUIET_MS = 250;
  const form = document.querySelector("form[data-props]");
  const running = new Map();

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
      if (answer.redirected) return location.reload();
      const page = hw.fragment(await answer.text());
      const fresh = page.querySelector("form[data-props]");
      if (!fresh) throw new Error("no form");
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
      const errors = page.querySelector(".summary-of-errors");
      document.querySelector(".summary-of-errors")?.remove();
      if (errors && (prop === undefined || !fieldOf(prop)?.querySelector(".wrong"))) form.before(errors);
    } catch (error) {
      if (error.name === "AbortError") return;
      hw.say("The node did not answer. Try again.");
      place?.removeAttribute("aria-busy");
    }
  };

  if (form) {
    let timer = 0;

    form.addEventListener("submit", (event) => {
      const action = event.submitter?.value ?? "";
      const [kind, ...rest] = action.split(":");
      if (["load", "more"].includes(kind)) send(action, rest.join(":"));
      else if (["reload", "accounts"].includes(action)) send(action);
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
      if (field && event.target.dataset.query === undefined) send("reload");
    });

    // Whoever comes back from connecting an account finds it here.
    let isConnecting = false;
    form.addEventListener("click", (event) => {
      if (event.target.closest("[data-connects]")) isConnecting = true;
    });
    addEventListener("focus", () => {
      if (isConnecting) send("accounts");
    });
  }

  // A form that takes a while says so, and is sent once.
  document.addEventListener("submit", (event) => {
    const busy = event.target.dataset.busy ?? (event.submitter?.value === "deploy" && event.target === form && "Deploying…");
    if (!busy || event.defaultPrevented) return;
    hw.say(busy);
    const button = event.submitter;
    // Not before it was sent with the form.
    setTimeout(() => {
      for (const each of hw.all("button", event.target)) each.disabled = true;
      if (button && !button.classList.contains("unseen")) button.textContent = busy;
    });
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  document.getElementById("errors")?.focus();
}
