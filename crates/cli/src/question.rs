//! Asking a person for a line of text, and whether there is one to ask. Prompts go to standard error, so that standard
//! output stays data.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use inquire::Text;
use inquire::validator::Validation;

/// Whether there is somebody to ask.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// The text that the person types.
pub(crate) fn ask(message: &str, is_required: bool) -> Result<String> {
    let mut prompt = Text::new(message);
    if is_required {
        prompt = prompt.with_validator(|typed: &str| {
            Ok(match typed.is_empty() {
                true => Validation::Invalid("This is required.".into()),
                false => Validation::Valid,
            })
        });
    }
    prompt
        .prompt()
        .with_context(|| format!("cannot ask for {message}"))
}
