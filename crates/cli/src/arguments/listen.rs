//! The command line of `listen`.

use clap::Args;

use super::channel;

#[derive(Debug, Args)]
pub(crate) struct ListenArguments {
    /// Source: its id, name or name slug. Or a workflow, also by its deployed folder
    #[arg(value_name = "SOURCE_OR_WORKFLOW")]
    pub(crate) source: String,
    /// Address that each event is POSTed to, from this machine: http://localhost:4242/hooks or localhost:4242
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) forward_to: String,
    /// Secret to sign with: whsec_ and base64 [default: a new one, shown at the start]
    #[arg(long, value_name = "SECRET")]
    pub(crate) secret: Option<String>,
    /// Begin with the events of this time: 90s, 30m or 1h ago, or 2026-01-31T12:00:00Z, 2026-01-31 or epoch
    /// milliseconds [default: only new events]
    #[arg(long, value_name = "TIME")]
    pub(crate) since: Option<String>,
    /// Only this channel, such as $errors [default: the default one and those that the component names]
    #[arg(long, value_name = "NAME", value_parser = channel::named)]
    pub(crate) channel: Option<String>,
}
