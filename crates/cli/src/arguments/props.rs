//! The command line of props, for every command that configures some.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Default, Args)]
pub(crate) struct PropArguments {
    /// Value of a prop, repeatable. Objects are JSON, lists JSON or comma-separated, timers 15m,
    /// 30s, 1h, a number of seconds or a cron expression, app props an account's id or name
    #[arg(long = "prop", value_name = "NAME=VALUE")]
    pub(crate) props: Vec<String>,
    /// Values of props from a JSON object; `--prop` wins over it
    #[arg(long, value_name = "FILE.json")]
    pub(crate) props_file: Option<PathBuf>,
}
