//! A worker: one Deno process that runs one source's component, many runs at a time.
//!
//! Responsible for: the session with the process from its start to its end, and that every run that
//! was accepted ends. Not for: which source it belongs to, or when it is no longer wanted (`pool.rs`).

pub(crate) mod folder;
pub(crate) mod frames;
pub(crate) mod process;
pub(crate) mod protocol;
mod runs;

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use headwater_model::limits::RunLimits;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{
    process::{Child, ChildStdout},
    sync::{Notify, oneshot},
    time::Instant,
};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::{
    api::{EngineError, Invocation, RunSink},
    artifact,
    sandbox::{Permissions, Sandbox},
};
use folder::WorkerFolder;
use frames::{FrameReader, Piece, SessionToken, append_frame};
use process::{Outbox, Pipes};
use protocol::{HostFrame, Kind, WorkerFrame, run_of_beginning};
use runs::{Ending, Exit, Runs};

/// How long a process may take to be ready, on a machine under load.
const READY_TIMEOUT: Duration = Duration::from_secs(30);
/// What a frame has besides what its run put out.
const FRAME_SLACK_BYTES: usize = 64 * 1024;

/// How to start workers.
pub(crate) struct WorkerLaunch {
    pub(crate) sandbox: Arc<Sandbox>,
    /// Where workers' folders are made; an absolute path without links, as Deno compares paths.
    pub(crate) work_dir: PathBuf,
    pub(crate) limits: RunLimits,
    /// Host names that mean the node itself.
    pub(crate) self_alias: Vec<String>,
    /// Where the node itself can be reached.
    pub(crate) api_socket: Option<PathBuf>,
}

/// A worker past its start.
pub(crate) struct Worker {
    pid: u32,
    folder: WorkerFolder,
    outbox: Arc<Outbox>,
    runs: Mutex<Runs>,
    log_limit_bytes: usize,
    deadlines_changed: Notify,
    kill: CancellationToken,
    gone: CancellationToken,
    removed: CancellationToken,
}

impl Worker {
    /// Starts a generic worker and waits until it is ready for a component.
    ///
    /// # Errors
    /// The process cannot be started, or does not get ready.
    pub(crate) async fn start(launch: &WorkerLaunch) -> Result<Arc<Self>, EngineError> {
        let folder =
            WorkerFolder::create(&launch.work_dir).map_err(|error| EngineError::Unavailable {
                context: format!(
                    "making a folder for a worker in {}",
                    launch.work_dir.display()
                ),
                reason: error.to_string(),
            })?;
        let spawned = launch
            .sandbox
            .spawn(&folder.code(), &folder.tmp(), &launch.permissions(&folder))
            .await;
        match spawned {
            Ok(child) => Self::greet(launch, folder, child).await,
            Err(error) => {
                folder.remove();
                Err(error)
            }
        }
    }

    async fn greet(
        launch: &WorkerLaunch,
        folder: WorkerFolder,
        mut child: Child,
    ) -> Result<Arc<Self>, EngineError> {
        let pipes = Pipes::take(&mut child)?;
        let token = SessionToken::random()?;
        let pid = child.id().unwrap_or_default();
        folder.mark(pid);
        let worker = Arc::new(Self {
            pid,
            folder,
            outbox: Arc::default(),
            runs: Mutex::new(Runs::new(launch.limits.clone(), Instant::now())),
            log_limit_bytes: launch.limits.log_bytes,
            deadlines_changed: Notify::new(),
            kill: CancellationToken::new(),
            gone: CancellationToken::new(),
            removed: CancellationToken::new(),
        });
        worker.send(&HostFrame::Hello {
            version: protocol::VERSION,
            token: token.to_hex(),
        })?;
        let (report, ready) = oneshot::channel();
        let frames = FrameReader::new(token, launch.limits.output_bytes + FRAME_SLACK_BYTES);
        tokio::spawn(Arc::clone(&worker.outbox).write_to(pipes.stdin, worker.gone.clone()));
        tokio::spawn(Arc::clone(&worker).watch_deadlines());
        let stderr = tokio::spawn(process::tail(pipes.stderr));
        let listening = Listening {
            frames,
            stdout: pipes.stdout,
            ready: Some(report),
        };
        tokio::spawn(Arc::clone(&worker).live(child, listening, stderr));
        // Whoever waits may give up.
        let abandoned = worker.end_on_drop();
        match tokio::time::timeout(READY_TIMEOUT, ready).await {
            Ok(Ok(())) => {
                abandoned.disarm();
                Ok(worker)
            }
            Ok(Err(_)) => Err(EngineError::WorkerLost(
                "it ended before it was ready".into(),
            )),
            Err(_) => {
                worker.dismiss();
                Err(EngineError::WorkerLost("it did not get ready".into()))
            }
        }
    }

    /// Gives the worker its component, whose code is in [`Self::folder`] by now.
    ///
    /// # Errors
    /// The folder has no URL, or the frame cannot be made.
    pub(crate) fn load(
        &self,
        launch: &WorkerLaunch,
        env: &BTreeMap<String, String>,
        kv: &Map<String, Value>,
    ) -> Result<(), EngineError> {
        let entry = self.folder.code().join(artifact::ENTRY);
        let entry = Url::from_file_path(&entry)
            .map_err(|()| EngineError::Spawn(format!("{} is not absolute", entry.display())))?;
        let api_socket = launch.linked_api_socket(&self.folder);
        let api_socket = api_socket.as_deref().and_then(std::path::Path::to_str);
        self.send(&HostFrame::Load {
            entry: entry.as_str(),
            env,
            kv,
            self_alias: &launch.self_alias,
            api_socket,
        })
    }

    /// Starts a run. `false` when this worker takes no more: nothing was done then.
    ///
    /// # Errors
    /// The invocation cannot be made a frame.
    pub(crate) fn invoke(
        &self,
        invocation: &Invocation,
        sink: &RunSink,
    ) -> Result<bool, EngineError> {
        let Some((id, is_earlier)) = self.runs.lock().add(invocation, sink, Instant::now()) else {
            return Ok(false);
        };
        if is_earlier {
            self.deadlines_changed.notify_one();
        }
        let frame = HostFrame::Invoke {
            id,
            entry: &invocation.entry,
            event: &invocation.event,
            props: &invocation.props,
            log_limit_bytes: self.log_limit_bytes,
        };
        self.send(&frame)
            .inspect_err(|_| self.runs.lock().forget(id))?;
        Ok(true)
    }

    /// Where the worker's files are.
    pub(crate) fn folder(&self) -> &WorkerFolder {
        &self.folder
    }

    /// Whether the worker may be given runs.
    pub(crate) fn is_open(&self) -> bool {
        self.runs.lock().ending().is_none()
    }

    /// Runs in flight.
    pub(crate) fn runs(&self) -> usize {
        self.runs.lock().len()
    }

    /// Since when there has been no run; `None` while there is one.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        self.runs.lock().idle_since()
    }

    /// Memory that ending this worker would free, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        process::private_memory(self.pid)
    }

    /// Ends the worker; its runs end `Lost`. [`Self::gone`] waits for it.
    pub(crate) fn dismiss(&self) {
        self.end(Ending::Dismissed);
    }

    /// Ends the worker because of the memory it holds.
    pub(crate) fn dismiss_for_memory(&self, message: String) {
        self.end(Ending::Memory { message });
    }

    /// Ends the worker unless it has runs, and says whether it does.
    pub(crate) fn dismiss_if_idle(&self) -> bool {
        let mut runs = self.runs.lock();
        let is_idle = runs.len() == 0;
        if is_idle {
            runs.end(Ending::Dismissed);
            self.kill.cancel();
        }
        is_idle
    }

    /// Ends the worker when the guard is dropped, unless it is disarmed: for workers nobody has yet.
    pub(crate) fn end_on_drop(&self) -> DropGuard {
        self.kill.clone().drop_guard()
    }

    /// Waits until the process has ended and every run has its outcome.
    pub(crate) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    /// Waits until the folder is removed, too.
    pub(crate) async fn removed(&self) {
        self.removed.cancelled().await;
    }

    fn end(&self, ending: Ending) {
        self.runs.lock().end(ending);
        self.kill.cancel();
    }

    fn send(&self, frame: &HostFrame<'_>) -> Result<(), EngineError> {
        self.outbox.add(|waiting| append_frame(waiting, frame))
    }

    /// The worker's life: listens until the process is silent, and cleans up after it.
    async fn live(
        self: Arc<Self>,
        child: Child,
        mut listening: Listening,
        stderr: tokio::task::JoinHandle<String>,
    ) {
        let reaper = tokio::spawn(process::reap(child, self.kill.clone()));
        self.listen(&mut listening).await;
        drop(listening);
        let status = process::exit_of(reaper, &self.kill).await;
        let exit = Exit {
            status,
            stderr: stderr.await.unwrap_or_default(),
        };
        tracing::debug!(pid = self.pid, status = exit.status, "a worker is gone");
        self.runs.lock().process_gone(&exit);
        self.gone.cancel();
        let worker = Arc::clone(&self);
        // A runtime that is shutting down leaves the folder to the next start.
        let _ = tokio::task::spawn_blocking(move || worker.folder.remove()).await;
        self.removed.cancel();
    }

    async fn listen(&self, listening: &mut Listening) {
        while let Ok(true) = listening.frames.fill(&mut listening.stdout).await {
            if !self.hear(listening) {
                self.kill.cancel();
                return;
            }
        }
    }

    /// Handles what has come; false when nothing more can be understood.
    fn hear(&self, listening: &mut Listening) -> bool {
        let now = Instant::now();
        let mut runs = self.runs.lock();
        while let Some(piece) = listening.frames.next() {
            match piece {
                Piece::Noise(bytes) => runs.noise(bytes),
                Piece::TooLarge(beginning) => {
                    runs.too_large(run_of_beginning(beginning));
                    return false;
                }
                Piece::Frame(body) => match WorkerFrame::parse(body) {
                    Ok(frame) if frame.kind == Kind::Ready => {
                        if let Some(ready) = listening
                            .ready
                            .take()
                            .filter(|_| frame.version == Some(protocol::VERSION))
                        {
                            // Who started the worker may have given up.
                            let _ = ready.send(());
                        }
                    }
                    Ok(frame) => runs.frame(frame, body.len(), now),
                    Err(error) => {
                        runs.end(Ending::Protocol(format!(
                            "it sent a frame that is none ({error})"
                        )));
                        return false;
                    }
                },
            }
        }
        if runs.ending().is_some() {
            self.kill.cancel();
        }
        true
    }

    /// Ends the worker at the first deadline that passes.
    async fn watch_deadlines(self: Arc<Self>) {
        loop {
            let next = self.runs.lock().look_at_deadlines(Instant::now());
            if !self.is_open() {
                self.kill.cancel();
                return;
            }
            let wait = async {
                match next {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = wait => {}
                () = self.deadlines_changed.notified() => {}
                () = self.gone.cancelled() => return,
            }
        }
    }
}

/// A worker's output on its way in.
struct Listening {
    frames: FrameReader,
    stdout: ChildStdout,
    ready: Option<oneshot::Sender<()>>,
}

impl WorkerLaunch {
    fn permissions(&self, folder: &WorkerFolder) -> Permissions {
        let mut permissions = Permissions {
            read: vec![folder.code(), folder.tmp()],
            write: vec![folder.tmp()],
            network: true,
            heap_mib: self.limits.heap_mib,
        };
        if self.has_self_alias() {
            permissions.read.push(folder.api_socket());
            permissions.write.push(folder.api_socket());
        }
        permissions
    }

    fn has_self_alias(&self) -> bool {
        self.api_socket.is_some() && !self.self_alias.is_empty()
    }

    /// The node's socket under a name that belongs to the worker, so that a permission for one worker
    /// names nothing that another has.
    fn linked_api_socket(&self, folder: &WorkerFolder) -> Option<PathBuf> {
        let socket = self.api_socket.as_ref().filter(|_| self.has_self_alias())?;
        let link = folder.api_socket();
        match std::fs::hard_link(socket, &link) {
            Ok(()) => Some(link),
            Err(error) => {
                tracing::warn!(%error, socket = %socket.display(), "a worker cannot be given the node's own API");
                None
            }
        }
    }
}
