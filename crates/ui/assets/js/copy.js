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
    const { copy, copyFrom } = button.dataset;
    try {
      // What is not on the page whole.
      const answer = copyFrom && (await fetch(copyFrom));
      if (answer && (!answer.ok || answer.redirected)) throw answer;
      await navigator.clipboard.writeText(answer ? await answer.text() : copy);
      hw.say("Copied");
    } catch {
      if (copyFrom) {
        location = copyFrom;
        return;
      }
      select(button.previousElementSibling ?? button);
      hw.say("Selected: press Ctrl+C to copy");
    }
  });

  hw.enableCopying();
}
