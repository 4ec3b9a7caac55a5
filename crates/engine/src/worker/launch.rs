//! Starting workers: the rights of each process, and the paths under which it sees its files.

use std::{path::PathBuf, sync::Arc};

use headwater_model::limits::RunLimits;
use tokio_util::task::TaskTracker;

use super::{folder::WorkerFolder, protocol::ComponentNumber};
use crate::{
    network::{Destination, Route},
    sandbox::{Folders, Permissions, Sandbox},
};

/// The node's own API, if a worker may reach it.
const API_SOCKET: &str = "api.sock";

/// The settings for starting workers.
pub(crate) struct WorkerLaunch {
    pub(crate) sandbox: Arc<Sandbox>,
    /// The place where workers' folders are created; an absolute path without links, as Deno compares paths.
    pub(crate) work_dir: PathBuf,
    pub(crate) limits: RunLimits,
    /// The destinations of requests to some host names.
    pub(crate) routes: Vec<Route>,
    /// The socket at which the node itself can be reached.
    pub(crate) api_socket: Option<PathBuf>,
    /// Tracks each worker from its greeting until its folder is removed.
    pub(crate) lives: TaskTracker,
}

impl WorkerLaunch {
    /// The rights of the process of that folder.
    pub(super) fn permissions(&self, folder: &WorkerFolder, heap_mib: u32) -> Permissions {
        Permissions {
            folders: Folders {
                code: folder.code(ComponentNumber::FIRST),
                beside: Some(folder.beside()),
                tmp: Some(folder.tmp()),
                sockets: self.leads_to_node().then(|| folder.sockets()),
            },
            network: true,
            heap_mib,
        }
    }

    /// The place where the process of that folder sees a component's code.
    pub(super) fn seen_code(&self, folder: &WorkerFolder, component: ComponentNumber) -> PathBuf {
        match component {
            ComponentNumber::FIRST => self.sandbox.seen_code(&folder.code(component)),
            number => {
                let beside = self.sandbox.seen_beside(&folder.beside());
                beside.join(number.to_string())
            }
        }
    }

    fn leads_to_node(&self) -> bool {
        let mut destinations = self.routes.iter().map(|route| route.destination);
        self.api_socket.is_some()
            && destinations.any(|destination| destination == Destination::ThisNode)
    }

    /// The node's socket under a name that belongs to the worker, so that a permission for one worker
    /// names nothing that another has.
    pub(super) fn linked_api_socket(&self, folder: &WorkerFolder) -> Option<PathBuf> {
        let socket = self.api_socket.as_ref().filter(|_| self.leads_to_node())?;
        let link = folder.sockets().join(API_SOCKET);
        let linked = std::fs::hard_link(socket, &link).and_then(|()| self.sandbox.give(&link));
        match linked {
            Ok(()) => Some(
                self.sandbox
                    .seen_sockets(&folder.sockets())
                    .join(API_SOCKET),
            ),
            Err(error) => {
                tracing::warn!(%error, socket = %socket.display(), "a worker cannot be given the node's own API");
                None
            }
        }
    }
}
