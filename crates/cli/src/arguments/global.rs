//! The options that every command takes.

use std::path::PathBuf;

use clap::Args;

/// The address of a node, unless another is named.
pub(crate) const DEFAULT_URL: &str = "http://127.0.0.1:3000";
/// The data folder of a node, unless another is named.
pub(crate) const DEFAULT_DATA_DIR: &str = "./headwater-data";

/// Flags every command takes. The rare ones are in the long help only: they would push the command's own off the screen.
#[derive(Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(crate) struct Global {
    /// Address of the node
    ///
    /// Without it, that of the profile, that of the node on the data folder, or http://127.0.0.1:3000.
    #[arg(long, global = true, env = "HEADWATER_URL")]
    pub(crate) url: Option<String>,
    /// API key [default: that of --profile, in `<data-dir>/api-key`, or of the last login]
    #[arg(
        long,
        global = true,
        value_name = "KEY",
        env = "HEADWATER_API_KEY",
        hide_env_values = true,
        hide_short_help = true
    )]
    pub(crate) api_key: Option<String>,
    /// Data folder of a node on this machine
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        env = "HEADWATER_DATA_DIR",
        default_value = DEFAULT_DATA_DIR
    )]
    pub(crate) data_dir: PathBuf,
    /// Profile of `headwater login`: a node and the key for it
    #[arg(
        long,
        global = true,
        value_name = "NAME",
        env = "HEADWATER_PROFILE",
        hide_short_help = true
    )]
    pub(crate) profile: Option<String>,
    /// Workspace to work in, by its id or orgname
    ///
    /// Without it, your own things.
    #[arg(
        long,
        global = true,
        value_name = "ID_OR_ORGNAME",
        env = "HEADWATER_WORKSPACE"
    )]
    pub(crate) workspace: Option<String>,
    /// Certificates (PEM) to trust besides the system's, of a node whose authority is not public
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        env = "HEADWATER_CA_FILE",
        hide_short_help = true
    )]
    pub(crate) ca_file: Option<PathBuf>,
    /// Print `data` of the API's answer as JSON instead of a table
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Show tables whole (wide: all columns, and times instead of ages), or these of their columns: -o name,state
    #[arg(
        short = 'o',
        long,
        global = true,
        value_name = "wide|COLUMN,…",
        value_parser = OutputFormat::parse,
        conflicts_with = "json"
    )]
    pub(crate) output: Option<OutputFormat>,
}

/// Forms of a table.
#[derive(Debug, Clone)]
pub(crate) enum OutputFormat {
    /// Whole, as it is when it goes to a file or a program.
    Wide,
    /// With these columns.
    Columns(Vec<String>),
}

impl OutputFormat {
    fn parse(given: &str) -> Result<Self, String> {
        if given == "wide" {
            return Ok(Self::Wide);
        }
        let columns = given.split(',').map(|column| column.trim().to_owned());
        let columns: Vec<_> = columns.collect();
        match columns.iter().any(String::is_empty) {
            true => Err("give wide, or names of columns with commas between them".to_owned()),
            false => Ok(Self::Columns(columns)),
        }
    }
}
