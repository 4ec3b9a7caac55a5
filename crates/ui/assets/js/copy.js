// Buttons that copy. Where the browser gives no clipboard, the text is selected instead.
{
  const select = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
  };

  hw.enableCopying = (within = document) => {
    for (const button of hw.all("button[data-copy]", within)) button.hidden = false;
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    try {
      await navigator.clipboard.writeText(button.dataset.copy);
      hw.say("Copied");
    } catch {
      select(button.previousElementSibling ?? button);
      hw.say("Selected: press Ctrl+C to copy");
    }
  });

  hw.enableCopying();
}
