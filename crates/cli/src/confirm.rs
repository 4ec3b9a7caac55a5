//! Asking before something is deleted: on a terminal, unless `--yes` is given.

use std::io::IsTerminal as _;

use anyhow::{Result, bail};
use inquire::Confirm;

/// An error unless the person agrees, or nobody can be asked.
pub(crate) fn deletion(question: &str, yes: bool) -> Result<()> {
    if yes || !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Ok(());
    }
    match Confirm::new(question).with_default(false).prompt()? {
        true => Ok(()),
        false => bail!("nothing was deleted"),
    }
}
