// Forms that take a while say so, with the parts that have begun, and are sent once; what is wrong in one is come back to
// first.
{
  /** Has the node tell of the parts of what this form begins, under a name, for as long as the page is there. */
  const follow = (form) => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    const name = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    // Not `form.action`: its buttons are named so.
    const action = new URL(form.getAttribute("action"), location);
    action.searchParams.set("progress", name);
    form.setAttribute("action", action.pathname + action.search);
    const place = document.createElement("div");
    form.append(place);
    const source = new EventSource(`/live?of=work:${name}`);
    source.addEventListener("progress", ({ data }) => {
      const { html, said } = JSON.parse(data);
      place.replaceChildren(hw.fragment(html));
      hw.say(said);
    });
    for (const [target, name] of [[source, "bye"], [window, "pagehide"]]) target.addEventListener(name, () => source.close());
  };

  document.addEventListener("submit", (event) => {
    const form = event.target;
    const { value, dataset } = event.submitter ?? { dataset: {} };
    const busy = form.dataset.busy ?? (["deploy", "run"].includes(value) && form.matches("form[data-props]") && "Deploying…");
    if (!busy || "atOnce" in dataset || event.defaultPrevented) return;
    hw.say(busy);
    follow(form);
    const button = event.submitter;
    // Not before it was sent with the form.
    setTimeout(() => {
      for (const each of hw.all("button", form)) each.disabled = true;
      if (button && !button.classList.contains("unseen")) button.textContent = busy;
    });
  });
  addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  // A form that was refused is answered at its own address, with the name of work that is over.
  const here = new URL(location);
  if (here.searchParams.has("progress")) {
    here.searchParams.delete("progress");
    history.replaceState(history.state, "", here);
  }

  document.getElementById("errors")?.focus();
}
