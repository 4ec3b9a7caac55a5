//! The command line of what a component's author does: `run-action`, `dev` and `init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::props::PropArguments;

#[derive(Debug, Args)]
pub(crate) struct RunActionArguments {
    /// Action: a file, a URL, npm:PACKAGE[@VERSION]/path/in/the/package.mjs, or the key or id of one
    /// that the node has
    #[arg(value_name = "FILE|URL|npm:PACKAGE/PATH|KEY[@VERSION]")]
    pub(crate) component: String,
    #[command(flatten)]
    pub(crate) props: PropArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// Source: a file; what it imports by relative paths is watched, too
    pub(crate) file: PathBuf,
    /// Name of the source; the component's own name otherwise
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) props: PropArguments,
    /// Delete the source at the end; it stays deployed otherwise
    #[arg(long)]
    pub(crate) delete_on_exit: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// What to write
    pub(crate) kind: InitKind,
    /// Name of the component; its files and its key are called after it
    pub(crate) name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitKind {
    /// Code that emits events
    Source,
    /// Code that runs once
    Action,
}
