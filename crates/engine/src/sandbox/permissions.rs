//! The rights of a process that runs the runtime.

use std::path::PathBuf;

/// The folders of one process, as the machine has them.
#[derive(Debug, Clone)]
pub(crate) struct Folders {
    /// The code that it runs; it cannot write there.
    pub(crate) code: PathBuf,
    /// The folder of the code of further components, where it cannot write either.
    pub(crate) beside: Option<PathBuf>,
    /// The only place where it can write, if there is one.
    pub(crate) tmp: Option<PathBuf>,
    /// The folder of the socket of the node's own API, if it may reach that.
    pub(crate) sockets: Option<PathBuf>,
}

/// The rights of one process.
#[derive(Debug, Clone)]
pub(crate) struct Permissions {
    pub(crate) folders: Folders,
    /// Whether it may reach the addresses of the network policy, or none.
    pub(crate) network: bool,
    /// V8's heap.
    pub(crate) heap_mib: u32,
}
