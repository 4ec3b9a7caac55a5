//! `man`: a manual page for each command, derived from the command line's own definition.

use anyhow::{Context as _, Result};

use crate::arguments::{self, ManArguments};
use crate::exit::Exit;
use crate::output;

pub(crate) fn run(arguments: &ManArguments) -> Result<Exit> {
    let shown = arguments.dir.display();
    let failed = || format!("cannot write the manual pages to {shown}");
    std::fs::create_dir_all(&arguments.dir).with_context(failed)?;
    clap_mangen::generate_to(arguments::command(), &arguments.dir).with_context(failed)?;
    output::tell(&format!(
        "wrote the manual pages to {shown}; read one with `man {shown}/headwater.1`"
    ));
    Ok(Exit::Success)
}
