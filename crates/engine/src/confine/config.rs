//! The settings of confinement: the launcher, and whether a node may run without confinement.

use std::{ffi::OsString, path::PathBuf};

/// The way to start the launcher: a program that calls [`launch()`](super::launch()) with its further arguments.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Arguments before the launcher's own arguments.
    pub arguments: Vec<OsString>,
}

/// The settings of confinement.
#[derive(Debug, Clone)]
pub struct ConfinementConfig {
    /// The program that starts processes.
    pub launcher: Launcher,
    /// Whether processes may run on a kernel that cannot confine them.
    pub allow_unconfined: bool,
    /// A folder of the node; created if it does not exist.
    pub scratch_dir: PathBuf,
}
