//! The command line of `audit`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AuditArguments {
    /// Only acts of this actor: the name or id of a user, or the id of a key or session
    #[arg(long, value_name = "NAME_OR_ID")]
    pub(crate) actor: Option<String>,
    /// Only acts of this name, such as source.deploy, or of this kind, such as source
    #[arg(long, value_name = "ACTION")]
    pub(crate) action: Option<String>,
    /// Only acts on the thing with this id
    #[arg(long, value_name = "ID")]
    pub(crate) target: Option<String>,
    /// Only acts within this time, such as 90s, 30m or 1h, or since 2026-01-31T12:00:00Z, 2026-01-31 or epoch
    /// milliseconds
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only acts until then
    #[arg(long, value_name = "TIME")]
    pub(crate) until: Option<String>,
    /// Number of the latest records to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}
