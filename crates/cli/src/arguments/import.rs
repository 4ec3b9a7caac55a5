//! The command line of `import`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// Address of the service to copy from: https://api.pipedream.com/v1, or another node
    #[arg(long, value_name = "URL")]
    pub(crate) from: String,
    /// API key of that service; --api-key stays this node's
    #[arg(
        long,
        value_name = "KEY",
        env = "HEADWATER_IMPORT_KEY",
        hide_env_values = true
    )]
    pub(crate) from_key: Option<String>,
    /// Workspace to copy, by its id there [default: the things of the key's user]
    #[arg(long, value_name = "ID")]
    pub(crate) from_workspace: Option<String>,
    /// Value that the service does not give, repeatable: a secret, or for an app prop an account's id or
    /// name here. SOURCE is a source's id, name slug or name there. Without =VALUE you are asked for it,
    /// hidden; write a value that begins with @ as @@…
    #[arg(long = "prop", value_name = "SOURCE.PROP[=VALUE|=@FILE]")]
    pub(crate) props: Vec<String>,
}
