//! Arguments of `headwater service`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Args)]
pub(crate) struct ServiceArguments {
    #[command(subcommand)]
    pub(crate) command: ServiceCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServiceCommand {
    /// Write the unit of a service that runs `headwater serve`; starts nothing
    Install(InstallServiceArguments),
    /// Remove the unit; the data folder stays
    Uninstall(UninstallServiceArguments),
    /// Print the unit
    Print(UnitArguments),
}

/// The service that a unit describes.
#[derive(Debug, Args)]
pub(crate) struct UnitArguments {
    /// For the systemd of your own user, in place of the machine's
    #[arg(long)]
    pub(crate) user: bool,
    /// The binary to run [default: this one]
    #[arg(long, value_name = "FILE")]
    pub(crate) binary: Option<PathBuf>,
    /// Options of `headwater serve`
    #[arg(last = true, value_name = "SERVE_OPTIONS")]
    pub(crate) options: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct InstallServiceArguments {
    #[command(flatten)]
    pub(crate) unit: UnitArguments,
    #[command(flatten)]
    pub(crate) place: UnitPlaceArguments,
    /// Replace a unit that is there and differs
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UninstallServiceArguments {
    /// That of your own user, in place of the machine's
    #[arg(long)]
    pub(crate) user: bool,
    #[command(flatten)]
    pub(crate) place: UnitPlaceArguments,
    /// Remove a unit that `headwater service install` did not write
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UnitPlaceArguments {
    /// Folder of units [default: /etc/systemd/system, or ~/.config/systemd/user with --user]
    #[arg(long, value_name = "DIR")]
    pub(crate) unit_dir: Option<PathBuf>,
}
