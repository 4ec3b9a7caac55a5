//! `completions`: a shell's completion script, derived from the command line's own definition.

use anyhow::Result;

use crate::arguments::{self, CompletionsArguments};
use crate::exit::Exit;
use crate::output;

pub(crate) fn run(arguments: &CompletionsArguments) -> Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(
        arguments.shell,
        &mut arguments::command(),
        "headwater",
        &mut script,
    );
    output::data(String::from_utf8(script)?.trim_end())?;
    Ok(Exit::Success)
}
