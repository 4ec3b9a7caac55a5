// Secrets are seen while they are typed, if somebody asks for it, and never longer.
hw.enableSecrets = (within = document) => {
  for (const input of hw.all("input[data-secret]", within)) {
    if (input.parentElement.matches(".secret")) continue;
    const place = document.createElement("span");
    place.className = "secret";
    input.replaceWith(place);
    const button = document.createElement("button");
    Object.assign(button, { type: "button", textContent: "Show" });
    const show = (isShown) => {
      input.type = isShown ? "text" : "password";
      button.setAttribute("aria-pressed", isShown);
    };
    show(false);
    button.addEventListener("click", () => show(input.type === "password"));
    place.addEventListener("focusout", ({ relatedTarget }) => place.contains(relatedTarget) || show(false));
    place.append(input, button);
  }
};

document.addEventListener("submit", ({ target }) => {
  for (const input of hw.all(".secret input", target)) input.type = "password";
});

// Fields of forms of props, as they are with script.
hw.enableFields = (within = document) => {
  hw.enableLists(within);
  hw.enableChoices(within);
  hw.enableSecrets(within);
};
