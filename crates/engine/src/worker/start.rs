//! Starting workers: the process, and the greeting after which it can be given a component.

use std::{
    path::Path,
    sync::{Arc, OnceLock, atomic::AtomicU64},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    process::Child,
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    Worker,
    folder::WorkerFolder,
    frames::{FrameReader, SessionToken, append_frame},
    launch::WorkerLaunch,
    life::Listening,
    process::{Outbox, Pipes},
    protocol::{self, HostFrame, RouteFrame},
    runs::{Answer, Runs},
    turns::Turns,
};
use crate::{
    api::EngineError,
    data_store::{Replier, StoreReply},
    shared_modules::SharedModule,
};

/// The time that a process may take to be ready, on a machine under load.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// The bytes of a frame besides the output of its run.
const FRAME_SLACK_BYTES: usize = 64 * 1024;

impl Worker {
    /// Starts a worker with that much heap, and waits until it is ready for a component, which imports this module, if
    /// any.
    ///
    /// # Errors
    /// The process cannot be started, or does not become ready.
    pub(crate) async fn start(
        launch: &WorkerLaunch,
        heap_mib: u32,
        shared_module: Option<&SharedModule>,
    ) -> Result<Arc<Self>, EngineError> {
        let folder =
            WorkerFolder::create(&launch.work_dir).map_err(|error| EngineError::Unavailable {
                context: format!(
                    "making a folder for a worker in {}",
                    launch.work_dir.display()
                ),
                reason: error.to_string(),
            })?;
        if let Err(error) = launch.sandbox.give(&folder.tmp()) {
            folder.remove();
            return Err(EngineError::Spawn(format!("a worker's folder: {error}")));
        }
        let permissions = launch.permissions(&folder, heap_mib);
        match launch.sandbox.spawn(&permissions).await {
            Ok(child) => Self::greet(launch, folder, (child, heap_mib), shared_module).await,
            Err(error) => {
                folder.remove();
                Err(error)
            }
        }
    }

    async fn greet(
        launch: &WorkerLaunch,
        folder: WorkerFolder,
        (mut child, heap_mib): (Child, u32),
        shared_module: Option<&SharedModule>,
    ) -> Result<Arc<Self>, EngineError> {
        let pipes = Pipes::take(&mut child)?;
        let token = SessionToken::random()?;
        let pid = child.id().unwrap_or_default();
        folder.mark(pid);
        let outbox = Arc::<Outbox>::default();
        let gone = CancellationToken::new();
        let answer = answers_to(&outbox, &gone);
        let worker = Arc::new(Self {
            pid,
            heap_mib,
            folder,
            outbox,
            runs: Mutex::new(Runs::new(launch.limits.clone(), answer, Instant::now())),
            code: Mutex::default(),
            log_limit_bytes: launch.limits.log_bytes,
            last_memory: AtomicU64::new(0),
            turns: Turns::default(),
            deadlines_changed: Notify::new(),
            kill: CancellationToken::new(),
            exit: OnceLock::new(),
            gone,
        });
        worker.send_hello(launch, token, shared_module)?;
        let (report, ready) = oneshot::channel();
        let frames = FrameReader::new(token, launch.limits.output_bytes + FRAME_SLACK_BYTES);
        tokio::spawn(Arc::clone(&worker.outbox).write_to(pipes.stdin, worker.gone.clone()));
        tokio::spawn(Arc::clone(&worker).watch_deadlines());
        let stderr = tokio::spawn(Arc::clone(&worker).listen_to_stderr(pipes.stderr));
        let listening = Listening {
            frames,
            stdout: pipes.stdout,
            ready: Some(report),
        };
        let life = Arc::clone(&worker).live(child, listening, stderr);
        launch.lives.spawn(life);
        // The waiting caller may give up.
        let abandoned = worker.end_on_drop();
        match tokio::time::timeout(READY_TIMEOUT, ready).await {
            Ok(Ok(())) => {
                abandoned.disarm();
                Ok(worker)
            }
            Ok(Err(_)) => {
                worker.gone().await;
                let exit = worker.exit.get().cloned().unwrap_or_default();
                Err(exit.as_failed_start())
            }
            Err(_) => {
                worker.dismiss();
                Err(EngineError::WorkerLost("it did not get ready".into()))
            }
        }
    }

    fn send_hello(
        &self,
        launch: &WorkerLaunch,
        token: SessionToken,
        shared_module: Option<&SharedModule>,
    ) -> Result<(), EngineError> {
        let api_socket = launch.linked_api_socket(&self.folder);
        let api_socket = api_socket.as_deref().and_then(Path::to_str);
        let routes = launch.routes.iter();
        self.send(&HostFrame::Hello {
            version: protocol::VERSION,
            token: token.to_hex(),
            routes: routes
                .filter_map(|route| RouteFrame::new(route, api_socket))
                .collect(),
            shared_module: shared_module.map(SharedModule::specifier),
        })
    }
}

/// Queues answers to runs' requests among the frames for the worker.
fn answers_to(outbox: &Arc<Outbox>, gone: &CancellationToken) -> Answer {
    let (outbox, gone) = (Arc::clone(outbox), gone.clone());
    Arc::new(move |id, request| {
        let room = Arc::clone(&outbox).room(gone.clone());
        let outbox = Arc::clone(&outbox);
        let send = move |reply| answer(&outbox, id, request, &reply);
        Replier::new(send, room)
    })
}

fn answer(outbox: &Outbox, id: u64, request: u64, reply: &StoreReply) {
    let (value, error) = match reply {
        Ok(value) => (value.as_deref(), None),
        Err(message) => (None, Some(&**message)),
    };
    let frame = HostFrame::Reply {
        id,
        request,
        value,
        error,
    };
    if let Err(error) = outbox.add(|waiting| append_frame(waiting, &frame)) {
        tracing::warn!(%error, "a run is left without the answer that it waits for");
    }
}
