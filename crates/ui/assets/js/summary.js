// The summary of errors above a form of props that a load brought. That of a deployment or a trial is not its to take away.
{
  let told = null;

  hw.showSummary = (summary, form) => {
    told?.remove();
    told = summary;
    if (summary) form.before(summary);
  };

  /** Says above the form why nothing came back. What was typed stays. */
  hw.tellAbove = (form, text, target) => {
    const summary = document.createElement("section");
    summary.className = "summary-of-errors";
    summary.setAttribute("role", "alert");
    summary.append(text);
    if (target) {
      const link = document.createElement("a");
      Object.assign(link, { href: target, target: "_blank", rel: "noopener", textContent: "Sign in in another tab" });
      summary.append(" ", link, ", and press the button here again.");
    }
    hw.showSummary(summary, form);
  };
}
