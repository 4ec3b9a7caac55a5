// Forms of props: options are found while one types, those that depend on a changed value are loaded anew, and what a button
// loads takes the place of its field only. Without this script the same buttons send the form and get it back.
{
  const QUIET_MS = 250;
  const form = document.querySelector("form[data-props]");
  const running = new Map();
  // Fields whose options were asked for without a button: once each, until what is above them changes.
  const asked = new Set();

  const fields = () => hw.all("[data-field]", form);

  /** Sends the form as the button would, and shows what comes back of the field, or of all fields. */
  const send = async (action, prop) => {
    // Of the requests that bring all fields, the latest counts; a trial is let go on.
    const kind = prop === undefined && action !== "try" ? "" : action;
    running.get(kind)?.abort();
    const control = new AbortController();
    running.set(kind, control);
    const place = prop === undefined ? form.querySelector("[data-fields]") : hw.fieldOf(prop, form);
    const busy = place?.querySelector(":scope > .ticks") ?? place;
    const button = prop !== undefined && hw.all("button", place).find((one) => one.value === action);
    const rest = () => {
      busy?.removeAttribute("aria-busy");
      if (button) button.textContent = button.dataset.label;
    };
    busy?.setAttribute("aria-busy", "true");
    if (button) {
      button.dataset.label ??= button.textContent;
      button.textContent = "Loading…";
    }
    try {
      const { page, fresh, isLate } = await hw.sendForm(form, action, prop, control.signal);
      if (!fresh) return rest();
      // A trial is not made twice: its result is shown above fields that are newer.
      if (isLate && action !== "try") return send(action, prop);
      // Code that was written beside the fields may be another component now.
      const [was, now] = [form, fresh].map((one) => one.getAttribute("action"));
      form.setAttribute("action", now);
      if (was !== now) history.replaceState(history.state, "", now);
      if (prop === undefined && !isLate) {
        const carried = form.querySelector('input[name="additional"]');
        const again = fresh.querySelector('input[name="additional"]');
        carried?.remove();
        if (again) form.prepend(again);
        hw.replaceFields(place, fresh.querySelector("[data-fields]"));
        hw.say("The fields are up to date");
      } else if (!isLate) {
        hw.replaceFields(place, hw.fieldOf(prop, fresh));
        hw.showAccounts(form, fresh, prop);
        hw.say(hw.fieldOf(prop, form)?.querySelector("[role=status]")?.textContent ?? "");
      }
      rest();
      hw.enableCopying(form);
      hw.enableEditors(form);
      hw.settleDraft(page);
      hw.showTrial(page, form);
      hw.showCommands(page);
      const errors = page.querySelector(".summary-of-errors");
      if (prop === undefined) for (const former of hw.all(".summary-of-errors")) former.remove();
      const isTold = prop !== undefined && form.querySelector("[data-field] .wrong:not([data-fault=missing])");
      hw.showSummary(isTold ? null : errors, form);
    } catch (error) {
      if (error.name === "AbortError") return;
      hw.tellAbove(form, "The node did not answer. All that you have entered is still here: press the button again.");
      rest();
    }
  };

  const loaderOf = (field) => field.querySelector('button[value^="load:"]');
  const isLoaded = (field) => field.querySelector('input[name^="loaded."]');

  /** Loads the options of fields that have none yet, from the top, as far as all that is needed above is there. */
  const loadNext = async () => {
    const accounts = hw.all("[data-needed]", form).filter((field) => field.querySelector("[data-connects]"));
    if (!accounts.every(hw.isFilled)) return;
    for (const field of fields()) {
      const prop = field.dataset.field;
      if (loaderOf(field) && !isLoaded(field) && !asked.has(prop)) {
        asked.add(prop);
        await send(loaderOf(field).value, prop);
        return loadNext();
      }
      if (field.hasAttribute("data-needed") && !hw.isFilled(field)) return;
    }
  };

  /** Whether options come without a button: those of accounts, and those that a source has chosen among already. */
  const loadsAlone = () => form.querySelector("[data-connects]") || location.pathname.startsWith("/sources/");

  /** Options below a value that was changed are those of another one. */
  const change = (field) => {
    field.querySelector(":scope > .wrong[data-fault=undone]")?.remove();
    const all = fields();
    const below = all.slice(all.indexOf(field) + 1).filter(loaderOf);
    for (const one of below) asked.delete(one.dataset.field);
    if (field.hasAttribute("data-reloads")) send("reload").then(loadNext);
    else if (below.some((one) => isLoaded(one) || hw.isFilled(one))) send("renew").then(loadNext);
    else if (loadsAlone()) loadNext();
  };

  if (form) {
    hw.enableFields(form);
    let timer = 0;
    const later = (work) => {
      clearTimeout(timer);
      timer = setTimeout(work, QUIET_MS);
    };
    // A link must not run code with the accounts of whoever follows it: only a page of this site that leads here does.
    const from = document.referrer && new URL(document.referrer);
    const isOwnWay = from && from.origin === location.origin && /^\/(deploy|sources)(\/|$)/.test(from.pathname);
    if (isOwnWay && loadsAlone() && !/[?&][a-z]+\./.test(location.search)) loadNext();

    form.addEventListener("submit", (event) => {
      const action = event.submitter?.value ?? "";
      const [kind, ...rest] = action.split(":");
      if (["load", "more"].includes(kind)) send(action, rest.join(":"));
      else if (["reload", "show"].includes(action)) send(action).then(loadNext);
      else if (action === "try") send(action);
      else return;
      event.preventDefault();
    });

    form.addEventListener("input", (event) => {
      const { query } = event.target.dataset;
      const times = event.target.closest("[data-schedule]");
      if (query !== undefined) later(() => send(`load:${query}`, query));
      else if (times) later(() => send("show", times.dataset.field));
    });

    form.addEventListener("change", (event) => {
      const field = event.target.closest("[data-field]");
      if (field && event.target.dataset.query === undefined && !field.hasAttribute("data-schedule")) change(field);
    });

    hw.returns(form, {
      accounts: () => send("show"),
      retry: async () => {
        for (const failed of hw.all("[data-failed]", form)) {
          const field = failed.closest("[data-field]");
          await send(loaderOf(field).value, field.dataset.field);
        }
      },
      change,
    });
  }
}
