//! Asking before something is deleted: on a terminal, unless `--yes` is given.

use anyhow::{Result, bail};
use inquire::Confirm;

use crate::question;

/// An error unless the person agrees, or nobody can be asked.
pub(crate) fn deletion(question: &str, yes: bool) -> Result<()> {
    if yes || !question::is_possible() {
        return Ok(());
    }
    match Confirm::new(question).with_default(false).prompt()? {
        true => Ok(()),
        false => bail!("nothing was deleted"),
    }
}
