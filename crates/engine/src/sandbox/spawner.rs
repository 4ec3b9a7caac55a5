//! The thread that starts processes.
//!
//! One thread, and one of its own, for two reasons: what restricts system calls is inherited from the
//! thread that starts a process, and a process that is to die with its parent dies with that thread.

use std::{io, thread};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use super::{limits, syscalls};
use crate::api::EngineError;

struct Request {
    command: Command,
    heap_mib: u32,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Starts processes until it is dropped.
#[derive(Debug)]
pub(super) struct Spawner {
    requests: mpsc::UnboundedSender<Request>,
    filters_syscalls: bool,
}

impl Spawner {
    /// # Errors
    /// There is no thread to be had.
    pub(super) fn start(ipv6_off: bool) -> Result<Self, EngineError> {
        let (requests, mut waiting) = mpsc::unbounded_channel::<Request>();
        let (report, reported) = std::sync::mpsc::channel();
        let failed = |reason: String| {
            EngineError::Spawn(format!("the thread that starts workers: {reason}"))
        };
        thread::Builder::new()
            .name("start-workers".into())
            .spawn(move || {
                let filtered = syscalls::restrict_this_thread(ipv6_off);
                if let Err(reason) = &filtered {
                    tracing::warn!(reason, "system calls of workers cannot be restricted");
                }
                // The other side waits for it, or is gone with everything else.
                let _ = report.send(filtered.is_ok());
                while let Some(request) = waiting.blocking_recv() {
                    let _entered = request.runtime.enter();
                    // Who no longer waits drops the process, which ends it.
                    let _ = request
                        .answer
                        .send(start(request.command, request.heap_mib));
                }
            })
            .map_err(|error| failed(error.to_string()))?;
        let filters_syscalls = reported.recv().map_err(|error| failed(error.to_string()))?;
        Ok(Self {
            requests,
            filters_syscalls,
        })
    }

    /// Whether processes are restricted in what they may ask of the kernel.
    pub(super) fn filters_syscalls(&self) -> bool {
        self.filters_syscalls
    }

    /// Starts a process whose heap may have `heap_mib`.
    pub(super) async fn spawn(&self, command: Command, heap_mib: u32) -> io::Result<Child> {
        let (answer, answered) = oneshot::channel();
        let request = Request {
            command,
            heap_mib,
            runtime: Handle::current(),
            answer,
        };
        self.requests.send(request).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

fn start(mut command: Command, heap_mib: u32) -> io::Result<Child> {
    let child = command.spawn()?;
    if let Some(id) = child.id() {
        limits::apply(id, heap_mib)?;
    }
    Ok(child)
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts workers is gone")
}
