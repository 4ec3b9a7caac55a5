//! The thread that starts processes. It is a dedicated one: a process set to die with its parent dies with the
//! thread that started it.

use std::{io, thread};

use tokio::{
    process::{Child, Command},
    runtime::Handle,
    sync::{mpsc, oneshot},
};

use crate::api::EngineError;

struct Request {
    command: Command,
    runtime: Handle,
    answer: oneshot::Sender<io::Result<Child>>,
}

/// Starts processes until it is dropped.
#[derive(Debug)]
pub(super) struct Spawner {
    requests: mpsc::UnboundedSender<Request>,
}

impl Spawner {
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start() -> Result<Self, EngineError> {
        let (requests, mut waiting) = mpsc::unbounded_channel::<Request>();
        thread::Builder::new()
            .name("start-workers".into())
            .spawn(move || {
                while let Some(mut request) = waiting.blocking_recv() {
                    let _entered = request.runtime.enter();
                    // A caller that no longer waits drops the process, which ends it.
                    let _ = request.answer.send(request.command.spawn());
                }
            })
            .map_err(|error| {
                EngineError::Spawn(format!("the thread that starts workers: {error}"))
            })?;
        Ok(Self { requests })
    }

    /// Starts a process.
    pub(super) async fn spawn(&self, command: Command) -> io::Result<Child> {
        let (answer, answered) = oneshot::channel();
        let request = Request {
            command,
            runtime: Handle::current(),
            answer,
        };
        self.requests.send(request).map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

fn gone() -> io::Error {
    io::Error::other("the thread that starts workers is gone")
}
