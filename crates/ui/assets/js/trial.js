// The end of a trial takes the place of the one before, above the form, which stays as it is.
hw.showTrial = (page, form) => {
  document.querySelector(".trial")?.remove();
  const trial = page.querySelector(".trial");
  if (!trial) return;
  form.before(trial);
  trial.focus();
};

// The commands of the page have the values that the form was sent with.
hw.showCommands = (page) => {
  const old = document.querySelector(".commands");
  const fresh = page.querySelector(".commands");
  if (!old || !fresh) return;
  fresh.open = old.open;
  old.replaceWith(fresh);
  hw.enableCopying(fresh);
};
