//! Asking before something is deleted or cannot be taken back: on a terminal, unless `--yes` is given.

use anyhow::{Result, bail};
use inquire::Confirm;

use crate::question;

/// An error unless the person agrees to a deletion, or nobody can be asked.
pub(crate) fn deletion(question: &str, yes: bool) -> Result<()> {
    asked(question, yes, "nothing was deleted")
}

/// The same of another deed, with the error of a person who does not agree.
pub(crate) fn asked(question: &str, yes: bool, refused: &'static str) -> Result<()> {
    if yes || !question::is_possible() {
        return Ok(());
    }
    match Confirm::new(question).with_default(false).prompt()? {
        true => Ok(()),
        false => bail!(refused),
    }
}
