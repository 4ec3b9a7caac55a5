//! `man`: a manual page for each command, derived from the command line's own definition.

use anyhow::{Context as _, Result};
use clap::Command;

use crate::arguments::{self, ManArguments};
use crate::exit::Exit;
use crate::output;

pub(crate) fn run(arguments: &ManArguments) -> Result<Exit> {
    let shown = arguments.dir.display();
    let failed = || format!("cannot write the manual pages to {shown}");
    std::fs::create_dir_all(&arguments.dir).with_context(failed)?;
    let command = with_all_options(arguments::command());
    clap_mangen::generate_to(command, &arguments.dir).with_context(failed)?;
    output::tell(&format!(
        "wrote the manual pages to {shown}; read one with `man {shown}/headwater.1`"
    ));
    Ok(Exit::Success)
}

/// The command with those options described that its short help leaves out.
fn with_all_options(command: Command) -> Command {
    command
        .mut_args(|argument| argument.hide_short_help(false))
        .mut_subcommands(with_all_options)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_the_short_help_leaves_out_are_described() {
        let folder = tempfile::tempdir().unwrap();
        let command = with_all_options(arguments::command());
        clap_mangen::generate_to(command, folder.path()).unwrap();
        for page in ["headwater.1", "headwater-list.1"] {
            let page = std::fs::read_to_string(folder.path().join(page)).unwrap();
            assert!(page.contains("Certificates (PEM) to trust"), "{page}");
        }
    }
}
