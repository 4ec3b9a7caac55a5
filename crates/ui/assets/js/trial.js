// The end of a trial takes the place of the one before, above the form, which stays as it is.
hw.showTrial = (page, form) => {
  document.querySelector(".trial")?.remove();
  const trial = page.querySelector(".trial");
  if (!trial) return;
  form.before(trial);
  trial.focus();
};
