//! The command line of `usage`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub(crate) struct UsageArguments {
    /// Number of days up to today (UTC), 1 to 366
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub(crate) days: u32,
    /// Tell sources and workflows apart, those with most runs first
    #[arg(long)]
    pub(crate) by: Option<UsageBy>,
}

/// As the API names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum UsageBy {
    Source,
}
