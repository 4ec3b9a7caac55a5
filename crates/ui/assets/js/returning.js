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

  for (const button of hw.all("[data-closes]")) {
    if (!window.opener) continue;
    button.hidden = false;
    button.addEventListener("click", () => window.close());
  }
}
