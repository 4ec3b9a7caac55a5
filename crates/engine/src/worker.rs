//! A worker: one Deno process that runs one source's component, many runs at a time.
//!
//! Responsible for: the session with the process from its start to its end, and that every run that
//! was accepted ends. Not for: which source it belongs to, or when it is no longer wanted (`pool.rs`).

mod ending;
pub(crate) mod folder;
pub(crate) mod frames;
mod launch;
mod life;
mod log_budget;
pub(crate) mod process;
pub(crate) mod protocol;
mod runs;

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, OnceLock},
};

use headwater_model::{limits::KEY_VALUE_BYTES, outcome::Limit};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::{
    api::{EngineError, Invocation, RunSink},
    artifact,
};
use ending::{Ending, Exit};
use folder::WorkerFolder;
use frames::append_frame;
pub(crate) use launch::WorkerLaunch;
use process::Outbox;
use protocol::{HostFrame, RouteFrame};
use runs::Runs;

/// A worker past its start.
pub(crate) struct Worker {
    pid: u32,
    folder: WorkerFolder,
    outbox: Arc<Outbox>,
    runs: Mutex<Runs>,
    log_limit_bytes: usize,
    deadlines_changed: Notify,
    kill: CancellationToken,
    loaded: CancellationToken,
    /// How the process ended, once it is gone.
    exit: OnceLock<Exit>,
    gone: CancellationToken,
    removed: CancellationToken,
}

impl Worker {
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
        let entry = launch
            .sandbox
            .seen_code(&self.folder.code())
            .join(artifact::ENTRY);
        let entry = Url::from_file_path(&entry)
            .map_err(|()| EngineError::Spawn(format!("{} is not absolute", entry.display())))?;
        let api_socket = launch.linked_api_socket(&self.folder);
        let api_socket = api_socket.as_deref().and_then(Path::to_str);
        let routes = launch.routes.iter();
        let routes = routes
            .filter_map(|route| RouteFrame::new(route, api_socket))
            .collect();
        self.send(&HostFrame::Load {
            entry: entry.as_str(),
            env,
            kv,
            kv_limit_bytes: KEY_VALUE_BYTES,
            routes,
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

    /// Whether its process has not ended.
    pub(crate) fn is_alive(&self) -> bool {
        process::is_alive(self.pid)
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

    /// Whether the worker's temporary files take more than `limit` bytes.
    pub(crate) fn tmp_exceeds(&self, limit: u64) -> bool {
        self.folder.tmp_exceeds(limit)
    }

    /// Ends the worker; its runs end `Lost`. [`Self::gone`] waits for it.
    pub(crate) fn dismiss(&self) {
        self.end(Ending::Dismissed);
    }

    /// Ends the worker because of what it holds.
    pub(crate) fn dismiss_for_excess(&self, limit: Limit, message: String) {
        self.end(Ending::Excess { limit, message });
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

    /// Waits until everything that it was told is written to it, or it is gone.
    pub(crate) async fn told(&self) {
        Arc::clone(&self.outbox).written(self.gone.clone()).await;
    }

    /// Waits until it has evaluated its component.
    pub(crate) async fn loaded(&self) {
        self.loaded.cancelled().await;
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
}
