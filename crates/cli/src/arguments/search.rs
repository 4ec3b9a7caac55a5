//! Arguments of `search`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    /// Words that key, name, description or package have, all of them, in any case
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    /// Only components of this app, by its name slug
    #[arg(long, value_name = "APP")]
    pub(crate) app: Option<String>,
    /// Only sources, or only actions
    #[arg(long = "type", value_parser = ["source", "action"])]
    pub(crate) component_type: Option<String>,
    /// Maximum number to show
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    pub(crate) limit: usize,
}
