//! The command line of `users`, `workspaces` and `keys`.

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct UsersArguments {
    #[command(subcommand)]
    pub(crate) command: UsersCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum UsersCommand {
    /// Make a user; prints its API key, once
    Create {
        /// Letters, digits, dots, underscores and hyphens
        username: String,
        /// Address of the user
        #[arg(long)]
        email: String,
    },
    /// List the users
    List,
    /// Delete a user who has no sources of its own
    Delete {
        /// User: its id or username
        #[arg(value_name = "ID_OR_USERNAME")]
        user: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct WorkspacesArguments {
    #[command(subcommand)]
    pub(crate) command: WorkspacesCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum WorkspacesCommand {
    /// Make a workspace and become its first member
    Create(CreateWorkspaceArguments),
    /// List the workspaces you are a member of
    List,
    /// Show a workspace and what ran in it today
    Describe {
        /// Workspace: its id or orgname
        #[arg(value_name = "ID_OR_ORGNAME")]
        workspace: String,
    },
    /// Who is a member of a workspace
    Members {
        #[command(subcommand)]
        command: MembersCommand,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateWorkspaceArguments {
    /// Lower-case letters, digits and hyphens
    pub(crate) orgname: String,
    /// Name; the orgname otherwise
    #[arg(long)]
    pub(crate) name: Option<String>,
    /// Address; yours otherwise
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
    /// Make a user a member
    Add(MemberArguments),
    /// End a membership; what the member made in the workspace stays there
    Remove(MemberArguments),
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
    /// Make a key; prints it, once
    Create {
        /// What the key is for
        name: String,
        /// For another user (id or username); for the administrator
        #[arg(long, value_name = "ID_OR_USERNAME")]
        user: Option<String>,
    },
    /// List the keys, which are themselves not shown
    List {
        /// Of another user (id or username); for the administrator
        #[arg(long, value_name = "ID_OR_USERNAME")]
        user: Option<String>,
    },
    /// Revoke a key: it opens nothing from then on
    ///
    /// The key in DATA_DIR/api-key is replaced by a new one first, if it is the one that is revoked.
    Revoke {
        /// Key: its id, or its name if only one of yours is called so
        #[arg(value_name = "ID_OR_NAME")]
        key: String,
        /// Revoke the very key that was given with --api-key or HEADWATER_API_KEY without asking
        #[arg(long)]
        yes: bool,
    },
    /// Make a new key for the administrator of a node that is stopped; prints it, and keeps it in DATA_DIR/api-key
    ///
    /// For operators who have no key left. Works on the data folder; the administrator's other keys stay.
    Reset,
    /// Seal all stored secrets with a new secret key; for the administrator
    ///
    /// Prints how many accounts, webhooks and sources were sealed anew.
    RotateSecret,
}
