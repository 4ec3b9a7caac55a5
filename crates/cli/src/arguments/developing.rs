//! The command line for authors of components: `run-action`, `try`, `dev` and `init`.

use std::path::PathBuf;

use clap::builder::{PathBufValueParser, TypedValueParser as _};
use clap::{Args, ValueEnum};

use super::props::PropArguments;
use crate::workflow::folder;

#[derive(Debug, Args)]
pub(crate) struct RunActionArguments {
    /// Action: a file, a URL, npm:PACKAGE[@VERSION]/path/in/the/package.mjs, or the key or id of a
    /// saved action
    #[arg(value_name = "FILE|URL|npm:PACKAGE/PATH|KEY[@VERSION]")]
    pub(crate) component: String,
    #[command(flatten)]
    pub(crate) props: PropArguments,
}

#[derive(Debug, Args)]
pub(crate) struct TryArguments {
    /// Source: a file, a URL, npm:PACKAGE[@VERSION]/path/in/the/package.mjs, or the key or id of a
    /// saved component
    #[arg(value_name = "FILE|URL|npm:PACKAGE/PATH|KEY[@VERSION]")]
    pub(crate) component: String,
    /// Event for `run`: JSON, @FILE, or @- for standard input
    #[arg(long, value_name = "JSON|@FILE")]
    pub(crate) event: Option<String>,
    #[command(flatten)]
    pub(crate) props: PropArguments,
}

#[derive(Debug, Args)]
pub(crate) struct DevArguments {
    /// Source file; files that it imports by relative paths are watched too. Or the folder of a workflow
    #[arg(value_parser = PathBufValueParser::new().map(folder::named))]
    pub(crate) file: PathBuf,
    /// Name of the source [default: the component's name]
    #[arg(long)]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) props: PropArguments,
    /// Deploy a source that nothing here can start but a run by hand: its events go to Pipedream's servers
    #[arg(long)]
    pub(crate) anyway: bool,
    /// Delete the source at the end, instead of leaving it deployed
    #[arg(long)]
    pub(crate) delete_on_exit: bool,
}

#[derive(Debug, Args)]
pub(crate) struct InitArguments {
    /// Kind of component, or a workflow
    pub(crate) kind: InitKind,
    /// Name of the component, from which its file names and key are derived; of a workflow, its folder
    pub(crate) name: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum InitKind {
    /// Code that emits events
    Source,
    /// Code that runs once
    Action,
    /// A folder with steps, as `headwater workflows init` creates it
    Workflow,
}
