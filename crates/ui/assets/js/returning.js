// Another tab to connect an account in: it may close itself, and the form that waits goes on when somebody comes back to it.
{
  // As long as the link of a connect is good.
  const PATIENCE_MS = 600_000;

  hw.returns = (form, { accounts, retry, change }) => {
    let waiting = null;

    const radiosOf = (prop) => hw.all('input[type="radio"]', hw.fieldOf(prop, form)).filter((radio) => radio.value);

    form.addEventListener("click", (event) => {
      const link = event.target.closest("a[data-opens]");
      if (!link) return;
      if ("connects" in link.dataset) waiting = { prop: link.closest("[data-field]").dataset.field, since: Date.now() };
      const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
      if (isPlain && window.open(link.href)) event.preventDefault();
    });

    /** Looks for the account that was waited for, and chooses it. */
    const look = async () => {
      const { prop, since } = waiting;
      if (Date.now() - since > PATIENCE_MS) waiting = null;
      const known = radiosOf(prop).map((radio) => radio.value);
      await accounts();
      const fresh = radiosOf(prop).find((radio) => !known.includes(radio.value));
      if (!fresh) return;
      waiting = null;
      fresh.checked = true;
      change(hw.fieldOf(prop, form));
    };

    addEventListener("focus", () => (waiting ? look() : retry()));
  };

  /** Options may fail because of an account, or work again: its field says so, but where it says why nothing was deployed. */
  hw.showAccounts = (form, fresh, prop) => {
    const fields = hw.all("[data-field]", form).filter((one) => one.querySelector("[data-connects]") && one.dataset.field !== prop);
    for (const field of fields) {
      const again = hw.fieldOf(field.dataset.field, fresh);
      const wrong = field.querySelector(".wrong");
      if (again && wrong?.dataset.fault !== "undone" && (wrong || again.querySelector(".wrong"))) hw.replaceFields(field, again);
    }
  };
}
