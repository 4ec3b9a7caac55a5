//! The command line of `accounts`.

use clap::{Args, Subcommand};

use super::confirmed::Confirmed;

#[derive(Debug, Args)]
pub(crate) struct AccountsArguments {
    #[command(subcommand)]
    pub(crate) command: AccountsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum AccountsCommand {
    /// Store an account's credentials on the node
    Add(AddAccountArguments),
    /// Connect an account in a browser: by the app's consent, or by a form
    Connect(ConnectAccountArguments),
    /// Give an account new credentials in a browser; the account stays the same
    Reconnect {
        /// Account: its id or name
        #[arg(value_name = "ID_OR_NAME")]
        account: String,
        /// Print the link instead of opening a browser
        #[arg(long)]
        no_browser: bool,
    },
    /// Give an account new values of its fields; the other fields and the account stay the same
    Update {
        /// Account: its id or name
        #[arg(value_name = "ID_OR_NAME")]
        account: String,
        /// Field of `$auth`, repeatable; without =VALUE you are asked for it, hidden. @- reads standard
        /// input; write a value that begins with @ as @@…
        #[arg(long = "field", value_name = "KEY[=VALUE|=@FILE]", required = true)]
        fields: Vec<String>,
    },
    /// Give an account another name
    Rename {
        /// Account: its id or name
        #[arg(value_name = "ID_OR_NAME")]
        account: String,
        /// New name
        name: String,
    },
    /// Test an account's credentials with the app
    Check {
        /// Account: its id or name
        #[arg(value_name = "ID_OR_NAME")]
        account: String,
    },
    /// List the accounts
    List(ListAccountsArguments),
    /// List the sources and workflows whose props name an account
    Users {
        /// Account: its id or name
        #[arg(value_name = "ID_OR_NAME")]
        account: String,
    },
    /// Delete an account and revoke its tokens
    Delete {
        /// Account: its id or name
        #[arg(value_name = "ID_OR_NAME")]
        account: String,
        #[command(flatten)]
        confirmed: Confirmed,
    },
}

#[derive(Debug, Args)]
pub(crate) struct ListAccountsArguments {
    /// Name slug of an app [default: all of them]
    pub(crate) app: Option<String>,
    /// Only those of this health: healthy, expired, refused or unknown
    #[arg(long, value_name = "HEALTH")]
    pub(crate) health: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct AddAccountArguments {
    /// Name slug of the app, as in app props
    pub(crate) app: String,
    /// Field of `$auth`, repeatable; without =VALUE you are asked for it, hidden. @- reads standard
    /// input; write a value that begins with @ as @@… Without --field, you are asked for the app's
    /// fields in the catalog
    #[arg(long = "field", value_name = "KEY[=VALUE|=@FILE]")]
    pub(crate) fields: Vec<String>,
    /// Name to tell the accounts of one app apart
    #[arg(long)]
    pub(crate) name: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct ConnectAccountArguments {
    /// Name slug of the app; `headwater apps` lists them
    pub(crate) app: String,
    /// Field with a known value, repeatable; the browser form asks for the others. @- reads standard
    /// input; write a value that begins with @ as @@…
    #[arg(long = "field", value_name = "KEY=VALUE|KEY=@FILE")]
    pub(crate) fields: Vec<String>,
    /// Name to tell the accounts of one app apart
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Print the link instead of opening a browser
    #[arg(long)]
    pub(crate) no_browser: bool,
}
