//! A worker: one Deno process that runs components of one owner, many runs at a time.
//!
//! Responsible for: the session with the process from its start to its end, and that every run that
//! was accepted ends. Not for: the owners of its components, or the time of its end (`pool.rs`).

mod components;
mod ending;
pub(crate) mod folder;
pub(crate) mod frames;
mod launch;
mod life;
mod log_budget;
pub(crate) mod process;
pub(crate) mod protocol;
mod pulse;
mod runs;
mod start;
mod turns;

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use headwater_model::{hash::ArtifactHash, limits::KEY_VALUE_BYTES, outcome::Limit};
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::{sync::Notify, time::Instant};
use tokio_util::sync::{CancellationToken, DropGuard};
use url::Url;

use crate::{
    api::{EngineError, Invocation, RunSink},
    artifact, factory,
};
pub(crate) use components::Trouble;
use ending::{Ending, Exit};
use folder::WorkerFolder;
use frames::append_frame;
pub(crate) use launch::WorkerLaunch;
use process::Outbox;
pub(crate) use protocol::ComponentNumber;
use protocol::HostFrame;
use pulse::Beat;
use runs::{Removal, Runs};
use turns::{Turn, Turns};

/// The memory of a worker besides V8's heap: Deno itself, code, buffers.
const BESIDES_HEAP_MIB: u64 = 256;
/// The part of V8's heap that components in one worker may take before further ones get another: what is left is for
/// their runs.
const SHARED_PART: (u64, u64) = (3, 4);

/// The place of a component's code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Code {
    /// The component that it was put there for.
    pub(crate) folder_of: ComponentNumber,
    /// Whether it is a function for any number of components.
    pub(crate) is_factory: bool,
}

/// The code in a worker.
#[derive(Debug, Default)]
struct AllCode {
    factories: HashMap<ArtifactHash, Code>,
    modules: usize,
}

/// A worker past its start.
pub(crate) struct Worker {
    pid: u32,
    heap_mib: u32,
    folder: WorkerFolder,
    outbox: Arc<Outbox>,
    runs: Mutex<Runs>,
    code: Mutex<AllCode>,
    log_limit_bytes: usize,
    last_memory: AtomicU64,
    turns: Turns,
    deadlines_changed: Notify,
    kill: CancellationToken,
    /// The end of the process, once it is gone.
    exit: OnceLock<Exit>,
    gone: CancellationToken,
}

impl Worker {
    /// The number of one more component, which stays in the worker until [`Self::unload_if_idle`].
    pub(crate) fn add_component(&self) -> ComponentNumber {
        self.runs.lock().add_component()
    }

    /// The code with this hash, if the worker has it and any number of components can run it.
    pub(crate) fn factory(&self, artifact_hash: &ArtifactHash) -> Option<Code> {
        self.code.lock().factories.get(artifact_hash).copied()
    }

    /// Records the code that was put into a component's folder.
    pub(crate) fn has_code(&self, artifact_hash: &ArtifactHash, code: Code) {
        let mut all = self.code.lock();
        all.modules += 1;
        if code.is_factory {
            all.factories.insert(artifact_hash.clone(), code);
        }
    }

    /// The number of modules that it was given.
    pub(crate) fn modules(&self) -> usize {
        self.code.lock().modules
    }

    /// Sends the worker a component whose code is in [`Self::folder`].
    ///
    /// # Errors
    /// The folder has no URL, or the frame cannot be made.
    pub(crate) fn load(
        &self,
        launch: &WorkerLaunch,
        component: ComponentNumber,
        code: Code,
        env: &BTreeMap<String, String>,
        kv: &Map<String, Value>,
    ) -> Result<(), EngineError> {
        let folder = launch.seen_code(&self.folder, code.folder_of);
        let entry = match code.is_factory {
            true => folder.join(factory::entry()),
            false => folder.join(artifact::ENTRY),
        };
        let entry = Url::from_file_path(&entry)
            .map_err(|()| EngineError::Spawn(format!("{} is not absolute", entry.display())))?;
        self.send(&HostFrame::Load {
            component,
            entry: entry.as_str(),
            is_factory: code.is_factory,
            env,
            kv,
            kv_limit_bytes: KEY_VALUE_BYTES,
        })?;
        self.runs.lock().load_sent(component, Instant::now());
        Ok(())
    }

    /// Waits until the worker has room for one more run.
    pub(crate) async fn turn(&self) -> Turn {
        self.turns.next().await
    }

    /// Starts a run of a component. `false`, without effect, when this worker takes no more runs of it.
    ///
    /// # Errors
    /// The invocation cannot be made a frame.
    pub(crate) fn invoke(
        &self,
        component: ComponentNumber,
        invocation: &Invocation,
        sink: &RunSink,
        turn: Turn,
    ) -> Result<bool, EngineError> {
        let added = self
            .runs
            .lock()
            .add(component, invocation, sink, turn, Instant::now());
        let Some((id, is_earlier)) = added else {
            return Ok(false);
        };
        if is_earlier {
            self.deadlines_changed.notify_one();
        }
        let frame = HostFrame::Invoke {
            id,
            component,
            entry: &invocation.entry,
            event: &invocation.event,
            props: &invocation.props,
            log_limit_bytes: self.log_limit_bytes,
        };
        self.send(&frame)
            .inspect_err(|_| self.runs.lock().forget(id))?;
        Ok(true)
    }

    /// Has the worker remove the `/tmp` of a run.
    pub(crate) fn forget_tmp(&self, tmp: &str) {
        if let Err(error) = self.send(&HostFrame::ForgetTmp { tmp }) {
            tracing::warn!(%error, "a worker keeps the files of a run that has ended");
        }
    }

    /// The place of the worker's files.
    pub(crate) fn folder(&self) -> &WorkerFolder {
        &self.folder
    }

    /// Whether the worker may be given runs.
    pub(crate) fn is_open(&self) -> bool {
        self.runs.lock().ending().is_none()
    }

    /// Whether its process is alive.
    pub(crate) fn is_alive(&self) -> bool {
        process::is_alive(self.pid)
    }

    /// Runs in flight.
    pub(crate) fn runs(&self) -> usize {
        self.runs.lock().len()
    }

    /// The time since which there has been no run; `None` while there is one.
    pub(crate) fn idle_since(&self) -> Option<Instant> {
        self.runs.lock().idle_since()
    }

    /// Memory that ending this worker would free, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        let memory = process::private_memory(self.pid);
        self.last_memory.store(memory, Ordering::Relaxed);
        memory
    }

    /// The same as it was when it was last looked at.
    pub(crate) fn last_memory(&self) -> u64 {
        self.last_memory.load(Ordering::Relaxed)
    }

    /// Its heap.
    pub(crate) fn heap_mib(&self) -> u32 {
        self.heap_mib
    }

    /// Memory beyond which it has to end, in bytes.
    pub(crate) fn memory_max(&self) -> u64 {
        (u64::from(self.heap_mib) + BESIDES_HEAP_MIB) << 20
    }

    /// Memory beyond which it gets no further components, in bytes.
    pub(crate) fn shared_memory_max(&self) -> u64 {
        (u64::from(self.heap_mib) << 20) * SHARED_PART.0 / SHARED_PART.1
    }

    /// Whether the worker's temporary files take more than `limit` bytes.
    pub(crate) fn tmp_exceeds(&self, limit: u64) -> bool {
        self.folder.tmp_exceeds(limit)
    }

    /// Components in it.
    pub(crate) fn components(&self) -> usize {
        self.runs.lock().components()
    }

    /// The component's part in harm to this worker, if it may have had one.
    pub(crate) fn trouble(&self, component: ComponentNumber) -> Option<Trouble> {
        self.runs.lock().trouble(component)
    }

    /// Checks whether its event loop turns, if it has runs. To be called from time to time.
    pub(crate) fn take_pulse(&self, now: Instant) {
        if self.runs() == 0 {
            return;
        }
        let used = process::processor_time(self.pid).unwrap_or_default();
        let beat = Beat { at: now, used };
        let is_to_be_pinged = self.runs.lock().is_to_be_pinged(beat);
        if is_to_be_pinged && let Err(error) = self.send(&HostFrame::Ping) {
            tracing::warn!(%error, "a worker cannot be asked for a sign of life");
        }
    }

    /// Ends the worker; its runs end `Lost`. [`Self::gone`] waits for it.
    pub(crate) fn dismiss(&self) {
        self.end(Ending::Dismissed);
    }

    /// Ends the worker because it exceeds a limit.
    pub(crate) fn dismiss_for_excess(&self, limit: Limit, message: String) {
        self.end(Ending::Excess { limit, message });
    }

    /// Ends the worker unless it has runs, and returns whether it ends.
    pub(crate) fn dismiss_if_idle(&self) -> bool {
        let mut runs = self.runs.lock();
        let is_idle = runs.len() == 0;
        if is_idle {
            runs.end(Ending::Dismissed);
            self.kill.cancel();
        }
        is_idle
    }

    /// Has the component, if it may have held others up, take no more runs here.
    pub(crate) fn part_if_harmful(&self, component: ComponentNumber) {
        self.runs.lock().part_if_harmful(component);
    }

    /// Waits until a component that takes no more runs has none, or the worker is gone that takes no more.
    pub(crate) async fn drained(&self, component: ComponentNumber) {
        let last_runs = self.runs.lock().last_runs(component);
        match last_runs {
            _ if !self.is_open() => self.gone().await,
            Some(runs) => tokio::select! {
                () = runs.wait() => {}
                () = self.gone() => {}
            },
            None => {}
        }
    }

    /// Removes a component from the worker unless it has runs, and returns whether it did. The worker ends with its
    /// last component; otherwise it keeps the module in its memory.
    pub(crate) fn unload_if_idle(&self, component: ComponentNumber) -> bool {
        let removal = self.runs.lock().remove_component(component);
        match removal {
            Removal::HasRuns => return false,
            Removal::WasLast => self.kill.cancel(),
            Removal::OthersAreLeft {
                is_load_sent: false,
            } => {}
            Removal::OthersAreLeft { is_load_sent: true } => {
                if let Err(error) = self.send(&HostFrame::Unload { component }) {
                    tracing::warn!(%error, %component, "a worker keeps a component that nobody wants");
                }
            }
        }
        true
    }

    /// Removes a component from the worker. If it has runs, the worker ends: its code cannot be stopped otherwise.
    pub(crate) fn unload(&self, component: ComponentNumber) {
        if !self.unload_if_idle(component) {
            self.dismiss();
        }
    }

    /// A guard that ends the worker on drop unless it is disarmed, for workers that are not in use yet.
    pub(crate) fn end_on_drop(&self) -> DropGuard {
        self.kill.clone().drop_guard()
    }

    /// Waits until all queued frames are written to the worker, or it is gone.
    pub(crate) async fn flushed(&self) {
        Arc::clone(&self.outbox).written(self.gone.clone()).await;
    }

    /// Waits until it has evaluated the component's module; forever for an unknown component.
    pub(crate) async fn loaded(&self, component: ComponentNumber) {
        let loading = self.runs.lock().loading(component);
        match loading {
            Some(loaded) => loaded.cancelled().await,
            None => std::future::pending().await,
        }
    }

    /// Waits until the process has ended and every run has its outcome.
    pub(crate) async fn gone(&self) {
        self.gone.cancelled().await;
    }

    fn end(&self, ending: Ending) {
        self.runs.lock().end(ending);
        self.kill.cancel();
    }

    fn send(&self, frame: &HostFrame<'_>) -> Result<(), EngineError> {
        self.outbox.add(|waiting| append_frame(waiting, frame))
    }
}
