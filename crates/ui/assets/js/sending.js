// A form of props that is sent as one of its buttons would send it.
{
  /** The fields of a prop, or of all, as they are sent. Code and events beside them stay as they are. */
  const entered = (form, prop) => {
    const fields = [...new FormData(form)].filter(([name]) => (prop === undefined ? name.includes(".") : name.endsWith(`.${prop}`)));
    return String(new URLSearchParams(fields));
  };

  /** The page that comes back, and whether fields were changed meanwhile. Without the form it says above it why. */
  hw.sendForm = async (form, action, prop, signal) => {
    const before = entered(form, prop);
    const body = new URLSearchParams(new FormData(form));
    body.set("action", action);
    const answer = await fetch(form.getAttribute("action"), { method: "POST", body, signal });
    const page = hw.fragment(await answer.text());
    const fresh = page.querySelector("form[data-props]");
    if (!fresh && answer.status === 401) hw.tellAbove(form, "You are signed out. All that you have entered is still here.", "/signin");
    else if (!fresh) hw.tellAbove(form, `${page.querySelector("h1")?.textContent ?? "The node refused it"}. All that you have entered is still here.`);
    return { page, fresh, isLate: entered(form, prop) !== before };
  };
}
