// Forms that take a while say so, and are sent once; what is wrong in one is come back to first.
{
  document.addEventListener("submit", (event) => {
    const busy = event.target.dataset.busy ?? (event.submitter?.value === "deploy" && event.target.matches("form[data-props]") && "Deploying…");
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
