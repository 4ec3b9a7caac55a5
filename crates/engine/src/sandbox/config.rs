//! The settings of the sandbox.

use std::{path::PathBuf, sync::Arc};

use crate::{confine::Confinement, network::NetworkPolicy, runtime_files::RuntimeFiles};

/// The things that all processes have in common.
#[derive(Debug, Clone)]
pub(crate) struct SandboxConfig {
    /// Keeps processes from the machine.
    pub(crate) confinement: Arc<Confinement>,
    /// The folder in which Deno's cache for the runtime's own modules is created.
    pub(crate) cache_dir: PathBuf,
    /// The runtime that processes run.
    pub(crate) runtime: RuntimeFiles,
    /// The addresses that they may reach.
    pub(crate) network: NetworkPolicy,
    /// A PEM file with the certificates that they trust besides the web's authorities.
    pub(crate) ca_file: Option<PathBuf>,
}
