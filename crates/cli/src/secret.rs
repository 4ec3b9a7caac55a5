//! Asking for a value that must not be seen: on a terminal, without an echo, so that it stays out of
//! the shell's history.

use anyhow::{Context as _, Result};

use crate::question;
use crate::usage_error::UsageError;

/// The value that the person types. `otherwise` has the next step if nobody can be asked.
pub(crate) fn ask(name: &str, otherwise: &str) -> Result<String> {
    if !question::is_possible() {
        return Err(UsageError(otherwise.to_owned()).into());
    }
    dialoguer::Password::new()
        .with_prompt(name)
        .interact()
        .with_context(|| format!("cannot ask for {name}"))
}

/// A webhook's secret as given, `-` for standard input, or, without one, as typed.
pub(crate) fn read(given: Option<String>) -> Result<String> {
    match given {
        Some(secret) if secret == "-" => {
            let mut line = String::new();
            std::io::stdin()
                .read_line(&mut line)
                .context("cannot read the secret")?;
            Ok(line.trim().to_owned())
        }
        Some(secret) => Ok(secret),
        None => ask(
            "secret",
            "--secret has no value; write --secret - to read it from standard input",
        ),
    }
}
