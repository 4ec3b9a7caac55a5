//! `completions`: the script with which a shell asks this program for completions.

use anyhow::Result;

use crate::arguments::CompletionsArguments;
use crate::completion;
use crate::exit::Exit;
use crate::output;

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Exit> {
    output::data(completion::script(arguments.shell)?.trim_end())?;
    Ok(Exit::Success)
}
