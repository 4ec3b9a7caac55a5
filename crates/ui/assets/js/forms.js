// The script of forms of props and of code comes with the pages that have one. Without it they work as without any script.
{
  /** The names of drafts in the browser's storage begin so. */
  hw.DRAFTS = "headwater-draft ";

  const place = document.querySelector("[data-script]");
  if (place) import(place.dataset.script).then(({ enable }) => enable(hw), () => {});

  // Nobody who signs out leaves drafts behind; where nothing may be stored, there are none.
  document.addEventListener("submit", ({ target }) => {
    if (target.getAttribute("action") !== "/signout") return;
    try {
      for (const name of Object.keys(localStorage).filter((one) => one.startsWith(hw.DRAFTS))) localStorage.removeItem(name);
    } catch {}
  });
}
