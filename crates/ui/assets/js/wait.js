// Pages that wait for something to end elsewhere go on by themselves when it has, and those of another tab close it.
{
  const AGAIN_MS = 3_000;
  const place = document.querySelector("[data-wait]");

  const wait = async () => {
    const address = new URL(place.dataset.wait, location);
    address.searchParams.set("wait", "25");
    try {
      const answer = await fetch(address, { headers: { accept: "text/html" } });
      const ended = answer.redirected || !hw.fragment(await answer.text()).querySelector("[data-wait]");
      if (ended) {
        // The line that the page shows once was shown to this script: the address itself is opened again.
        location.assign(answer.redirected ? answer.url : place.dataset.wait);
        return;
      }
      wait();
    } catch {
      setTimeout(wait, AGAIN_MS);
    }
  };

  for (const button of hw.all("[data-closes]")) {
    if (!window.opener) continue;
    button.hidden = false;
    button.addEventListener("click", () => window.close());
  }

  if (place) {
    place.append(" — or wait: this page goes on by itself.");
    wait();
  }
}
