// Reading and writing the page. Text goes in as text; the one way in for markup is `hw.fragment`.
{
  /** All elements that match, as an array. */
  hw.all = (selector, within = document) => [...within.querySelectorAll(selector)];

  const policy = globalThis.trustedTypes?.createPolicy("headwater", { createHTML: (html) => html });

  /** Elements of HTML that the node rendered. Nothing else is ever passed here. */
  hw.fragment = (html) => {
    const template = document.createElement("template");
    template.innerHTML = policy ? policy.createHTML(html) : html;
    return template.content;
  };

  /** Says something to people who listen to the page. */
  hw.say = (text) => {
    const status = document.getElementById("status");
    if (status) status.textContent = text;
  };

  // On a phone the menu is closed until it is asked for; beside the page it has nothing to open it with.
  const menu = document.querySelector(".menu");
  const narrow = matchMedia("(max-width: 52rem)");
  const fit = () => {
    if (!menu) return;
    menu.open = !narrow.matches;
    menu.dataset.fits = "";
  };
  narrow.addEventListener("change", fit);
  fit();

  // A part of the page that an address names is opened.
  const reveal = () => {
    const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    const part = named?.closest("details");
    if (!part || part.open) return;
    part.open = true;
    named.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();

  // The answer to a form that is shown once: to load it again is to go to the thing, not to send the form once more.
  const shown = document.querySelector("[data-address]");
  if (shown) history.replaceState(null, "", shown.dataset.address);
}
