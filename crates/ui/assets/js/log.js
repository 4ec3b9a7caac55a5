// A log is read at its end: it begins there, and stays there as lines come, unless somebody has scrolled up.
{
  const part = document.querySelector('[data-part="log"]');
  let isAtEnd = true;

  const toEnd = () => {
    const log = part.querySelector(".log");
    if (log && isAtEnd) log.scrollTop = log.scrollHeight;
  };

  if (part) {
    // Scrolling does not bubble.
    part.addEventListener("scroll", ({ target }) => (isAtEnd = target.scrollHeight - target.scrollTop - target.clientHeight < 24), true);
    new MutationObserver(toEnd).observe(part, { childList: true, subtree: true });
    toEnd();
  }
}
