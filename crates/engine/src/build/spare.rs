//! Processes for descriptions, and one in reserve: started and given the runtime before there is code to evaluate, as a
//! start takes longer than everything else in a description. Each evaluates one component and ends.
//!
//! The reserve is kept while components are being saved, and not for long after. Not responsible for what is said to a
//! process once it has code (`throwaway.rs`).

use std::{
    io,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    time::Duration,
};

use tempfile::TempDir;
use tokio::{io::AsyncWriteExt, process::Child, sync::Mutex, time::Instant};

use crate::{
    api::EngineError,
    runtime_files::readable,
    sandbox::{Folders, Permissions, Sandbox},
    shared_modules::SharedModule,
    worker::{
        frames::{SessionToken, append_frame},
        protocol::{HostFrame, VERSION},
    },
};

/// V8's heap.
pub(super) const HEAP_MIB: u32 = 256;
/// The time that the reserve waits for a component.
const KEPT: Duration = Duration::from_secs(60);

/// A process that was greeted.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) child: Child,
    pub(super) token: SessionToken,
    /// The folder that it sees as its code.
    pub(super) code: PathBuf,
    /// The same folder, if it was made for the process.
    folder: Option<TempDir>,
    /// The module that it has evaluated.
    module: Option<SharedModule>,
}

impl Process {
    /// Starts a process that sees the code in `code`.
    pub(super) async fn start(sandbox: &Sandbox, code: &Path) -> Result<Self, EngineError> {
        Self::greeted(sandbox, code.to_owned(), None).await
    }

    /// Whether it has a folder that is still to be filled.
    pub(super) fn has_own_folder(&self) -> bool {
        self.folder.is_some()
    }

    /// Starts a process that will see code, and evaluates the module that this will import.
    async fn start_empty(
        sandbox: &Sandbox,
        folders: &Path,
        module: Option<SharedModule>,
    ) -> Result<Self, EngineError> {
        let folders = folders.to_owned();
        let made = tokio::task::spawn_blocking(move || {
            let folder = tempfile::Builder::new()
                .prefix("describe-")
                .tempdir_in(folders)?;
            readable(folder.path())?;
            Ok(folder)
        });
        let made = made.await.map_err(io::Error::other).and_then(|made| made);
        let folder = made.map_err(|error| EngineError::Spawn(format!("a folder: {error}")))?;
        let mut process = Self::greeted(sandbox, folder.path().to_owned(), module).await?;
        process.folder = Some(folder);
        Ok(process)
    }

    async fn greeted(
        sandbox: &Sandbox,
        code: PathBuf,
        module: Option<SharedModule>,
    ) -> Result<Self, EngineError> {
        let permissions = Permissions {
            folders: Folders {
                code: code.clone(),
                beside: None,
                tmp: None,
                sockets: None,
            },
            network: false,
            heap_mib: HEAP_MIB,
        };
        let mut child = sandbox.spawn(&permissions).await?;
        let token = SessionToken::random()?;
        let hello = HostFrame::Hello {
            version: VERSION,
            token: token.to_hex(),
            routes: Vec::new(),
            shared_module: module.as_ref().map(SharedModule::specifier),
        };
        let mut bytes = Vec::new();
        append_frame(&mut bytes, &hello)?;
        if let Some(stdin) = &mut child.stdin {
            // A process that is gone already says why on standard error.
            let _ = stdin.write_all(&bytes).await;
        }
        Ok(Self {
            child,
            token,
            code,
            folder: None,
            module,
        })
    }

    /// Whether it can describe a component that imports this module.
    fn fits(&mut self, module: Option<&SharedModule>) -> bool {
        let is_alive = matches!(self.child.try_wait(), Ok(None));
        is_alive && (self.module.is_none() || self.module.as_ref() == module)
    }
}

/// The process in reserve.
#[derive(Debug)]
pub(super) struct Reserve {
    sandbox: Arc<Sandbox>,
    /// The folder of processes' folders.
    folders: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    process: Option<Process>,
    /// The module that the last component imports, and the next one probably too.
    module: Option<SharedModule>,
    wanted_until: Option<Instant>,
    /// Whether a task ends the process when it is no longer wanted.
    is_watched: bool,
}

impl Reserve {
    pub(super) fn new(sandbox: Arc<Sandbox>, folders: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            sandbox,
            folders,
            state: Mutex::default(),
        })
    }

    /// A process with an empty folder for a component that imports this module: the one in reserve if it fits, or a new
    /// one. Another one is started meanwhile.
    pub(super) async fn take(
        self: &Arc<Self>,
        module: Option<SharedModule>,
    ) -> Result<Process, EngineError> {
        let mut state = self.state.lock().await;
        let found = state.process.take();
        state.module.clone_from(&module);
        drop(state);
        let fitting = found.and_then(|mut found| found.fits(module.as_ref()).then_some(found));
        let process = match fitting {
            Some(process) => process,
            None => Process::start_empty(&self.sandbox, &self.folders, module).await?,
        };
        self.prepare();
        Ok(process)
    }

    /// Has a process in reserve for a component that is about to come.
    pub(super) fn prepare(self: &Arc<Self>) {
        let reserve = Arc::clone(self);
        tokio::spawn(async move {
            let is_watched = reserve.fill().await;
            let reserve = Arc::downgrade(&reserve);
            if !is_watched {
                Self::empty_later(reserve).await;
            }
        });
    }

    /// Starts a process unless there is one. Returns whether a task ends it.
    async fn fill(&self) -> bool {
        let mut state = self.state.lock().await;
        state.wanted_until = Some(Instant::now() + KEPT);
        if state.process.is_none() {
            let module = state.module.clone();
            match Process::start_empty(&self.sandbox, &self.folders, module).await {
                Ok(process) => state.process = Some(process),
                // The next description starts its own, and reports why that fails.
                Err(error) => tracing::debug!(%error, "no process is in reserve"),
            }
        }
        std::mem::replace(&mut state.is_watched, true)
    }

    /// Ends the process once no component has come for a time.
    async fn empty_later(reserve: Weak<Self>) {
        let mut until = Instant::now() + KEPT;
        loop {
            tokio::time::sleep_until(until).await;
            let Some(reserve) = reserve.upgrade() else {
                return;
            };
            let mut state = reserve.state.lock().await;
            match state.wanted_until.filter(|until| *until > Instant::now()) {
                Some(later) => until = later,
                None => {
                    state.process = None;
                    state.is_watched = false;
                    return;
                }
            }
        }
    }
}
