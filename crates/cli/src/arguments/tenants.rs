//! The command line of `users`, `workspaces` and `keys`.

use clap::{Args, Subcommand};

use super::confirmed::Confirmed;

#[derive(Debug, Args)]
pub(crate) struct UsersArguments {
    #[command(subcommand)]
    pub(crate) command: UsersCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Create a user and print their API key, once
    Create {
        /// Letters, digits, dots, underscores and hyphens
        username: String,
        /// Email address of the user; asked for on a terminal if it is missing
        #[arg(long)]
        email: Option<String>,
    },
    /// List the users
    List,
    /// Delete a user who has no sources of their own
    Delete {
        /// User: its id or username
        #[arg(value_name = "ID_OR_USERNAME")]
        user: String,
        #[command(flatten)]
        confirmed: Confirmed,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesArguments {
    #[command(subcommand)]
    pub(crate) command: WorkspacesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspacesCommand {
    /// Create a workspace and become its first member
    Create(CreateWorkspaceArguments),
    /// List the workspaces you are a member of
    List,
    /// Show a workspace and its usage today
    Describe {
        /// Workspace: its id or orgname
        #[arg(value_name = "ID_OR_ORGNAME")]
        workspace: String,
    },
    /// List, add and remove members of a workspace
    Members {
        #[command(subcommand)]
        command: MembersCommand,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateWorkspaceArguments {
    /// Lower-case letters, digits and hyphens
    pub(crate) orgname: String,
    /// Name [default: the orgname]
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Email address [default: yours]
    #[arg(long)]
    pub(crate) email: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MembersCommand {
    /// List the members
    List {
        /// Workspace: its id or orgname
        #[arg(value_name = "ID_OR_ORGNAME")]
        workspace: String,
    },
    /// Add a member
    Add(MemberArguments),
    /// Remove a member; things that they created in the workspace stay there
    Remove(RemoveMemberArguments),
}

#[derive(Debug, Args)]
pub(crate) struct RemoveMemberArguments {
    #[command(flatten)]
    pub(crate) member: MemberArguments,
    #[command(flatten)]
    pub(crate) confirmed: Confirmed,
}

#[derive(Debug, Args)]
pub(crate) struct MemberArguments {
    /// Workspace: its id or orgname
    #[arg(value_name = "ID_OR_ORGNAME")]
    pub(crate) workspace: String,
    /// User: its id or username
    #[arg(value_name = "ID_OR_USERNAME")]
    pub(crate) user: String,
}

#[derive(Debug, Args)]
pub(crate) struct KeysArguments {
    #[command(subcommand)]
    pub(crate) command: KeysCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum KeysCommand {
    /// Create a key and print it, once
    Create {
        /// Purpose of the key
        name: String,
        /// User to create the key for, by id or username (administrator only)
        #[arg(long, value_name = "ID_OR_USERNAME")]
        user: Option<String>,
    },
    /// List the keys, without their secret values
    List {
        /// User whose keys to list, by id or username (administrator only)
        #[arg(long, value_name = "ID_OR_USERNAME")]
        user: Option<String>,
    },
    /// Revoke a key; it stops working immediately
    ///
    /// If it is the key in DATA_DIR/api-key, a new key replaces it there first.
    Revoke {
        /// Key: its id, or its name if it is unique among yours
        #[arg(value_name = "ID_OR_NAME")]
        key: String,
        /// Do not ask before revoking; it is asked at a terminal, and before the key that this command uses (--api-key or
        /// HEADWATER_API_KEY) anywhere
        #[arg(short, long)]
        yes: bool,
    },
    /// Create a new key for the administrator of a stopped node, print it and write it to
    /// DATA_DIR/api-key
    ///
    /// For operators without any key. Works on the data folder; the administrator's other keys stay
    /// valid.
    Reset {
        /// The node's PostgreSQL database, if its store is not in the data folder
        #[arg(
            long,
            value_name = "URL",
            env = "HEADWATER_DATABASE_URL",
            hide_env_values = true
        )]
        database_url: Option<String>,
    },
    /// Encrypt all stored secrets with a new secret key (administrator only)
    ///
    /// Prints how many accounts, webhooks and sources were encrypted anew.
    RotateSecret,
}
