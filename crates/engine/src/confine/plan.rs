//! The plan of one process, which the node hands the launcher: the files it sees, its limits, the calls it may make.
//!
//! Data only, passed as JSON in one argument. Not responsible for its execution.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The user and group of processes if the node is root: one that no distribution or service manager assigns. In a user
/// namespace it is another name of the node's own user.
pub(crate) const OWN_USER: u32 = 60_590;

/// The way in which the kernel keeps a process from the files of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Method {
    /// A mount namespace with a root of its own, inside a user namespace unless the node is root.
    Namespaces,
    /// Rules of Landlock; paths stay those of the machine.
    Landlock,
    /// None, as configured by the operator.
    Unconfined,
}

/// The way to start one process.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Plan {
    pub(crate) method: Method,
    /// An existing folder on which the new root is mounted; its contents stay untouched.
    pub(crate) base: PathBuf,
    /// The folder that the process starts in, as it sees it.
    pub(crate) folder: PathBuf,
    /// The visible files, outer folders before inner ones.
    pub(crate) entries: Vec<Entry>,
    /// The user and group that it changes to; `None` keeps its starter's.
    pub(crate) user: Option<u32>,
    pub(crate) limits: Limits,
    pub(crate) calls: Calls,
}

/// A file, folder or link that a confined process sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Entry {
    /// A file or folder of the machine, without links on its way, under a path.
    View {
        source: PathBuf,
        path: PathBuf,
        access: Access,
    },
    /// A file of the process's own entry in `/proc`.
    OwnProcess { name: String },
    /// A symbolic link.
    Link { path: PathBuf, target: PathBuf },
    /// A small file; the machine's own of this path where the process has no root of its own, and is to see that.
    File {
        path: PathBuf,
        text: String,
        or_machines: bool,
    },
    /// An empty folder in memory, to write to; only in a root of the process's own.
    Scratch { path: PathBuf },
}

/// The ways in which files may be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Access {
    Read,
    /// Read, and run as a program or load as a library.
    Execute,
    Write,
    /// Read and write a device.
    Device,
}

/// The resource limits of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Limits {
    /// Writable memory.
    pub(crate) data_bytes: u64,
    /// The largest file that it may write.
    pub(crate) file_bytes: u64,
    pub(crate) open_files: u64,
    /// Its niceness relative to the node.
    pub(crate) niceness: i32,
}

/// The system calls that a process may use beyond the common ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Calls {
    pub(crate) ipv4: bool,
    pub(crate) ipv6: bool,
    pub(crate) unix_sockets: bool,
    /// Start other programs, and signal them.
    pub(crate) processes: bool,
}

impl Entry {
    pub(crate) fn view(source: &Path, path: &Path, access: Access) -> Self {
        Self::View {
            source: source.to_owned(),
            path: path.to_owned(),
            access,
        }
    }

    /// A file or folder of the machine where it is.
    pub(crate) fn same(path: &Path, access: Access) -> Self {
        Self::view(path, path, access)
    }
}
