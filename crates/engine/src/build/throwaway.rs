//! A worker that lives for one description: the sandbox with no network and no folder to write to.
//! Not responsible for how processes are started (`spare.rs`) or framed; that is the sandbox's and the worker's.

use std::{
    collections::BTreeMap,
    fs, io,
    os::unix::process::ExitStatusExt,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use headwater_model::{limits::KEY_VALUE_BYTES, outcome::ComponentError};
use rustix::process::Signal;
use serde_json::{Map, Value};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdout},
    time::Instant,
};
use url::Url;

use super::{
    describe::{Describe, Evaluated},
    spare::{HEAP_MIB, Process, Reserve},
};
use crate::{
    api::EngineError,
    artifact,
    confine::Confinement,
    factory,
    network::NetworkPolicy,
    runtime_files::{RuntimeFiles, readable},
    sandbox::{Sandbox, SandboxConfig},
    shared_modules::{self, SharedModule},
    worker::{
        frames::{FrameReader, Piece, SessionToken, append_frame},
        process::{Pipes, processor_time, tail},
        protocol::{ComponentNumber, HostFrame, Kind, WorkerFrame},
    },
};

/// The processor time that evaluating a module may take, so that a busy machine does not fail modules.
const PROCESSOR: Duration = Duration::from_secs(10);
/// The time that it may take at most: an import may wait for ever.
const WALL: Duration = Duration::from_secs(60);
/// The time that a process may take to load the runtime, before any code of the component runs.
const START: Duration = Duration::from_secs(30);
/// The period at which the processor time is checked.
const LOOK: Duration = Duration::from_millis(200);
/// A description larger than this is refused.
const FRAME_BYTES: usize = 4 * 1024 * 1024;
/// The maximum output of the worker.
const OUTPUT_BYTES: usize = 16 * 1024 * 1024;
/// The folder of the folders that processes see.
const FOLDERS: &str = "describing";

/// The names of failures of the process, not of the code in it.
mod failures {
    pub(super) const TIME: &str = "TimeoutError";
    pub(super) const MEMORY: &str = "MemoryError";
    pub(super) const OUTPUT: &str = "OutputError";
    pub(super) const ENDED: &str = "ProcessEndedError";
}

/// Starts throw-away workers.
#[derive(Debug, Clone)]
pub struct ThrowawayWorkers {
    sandbox: Arc<Sandbox>,
    reserve: Arc<Reserve>,
}

/// A worker's description of a component, or the reason why there is none.
type Described = Result<Value, ComponentError>;

/// The form in which a module is evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Module,
    /// The one that nodes make of it, if they can.
    Function,
}

impl ThrowawayWorkers {
    /// Throw-away workers of an existing sandbox, with folders in `cache_dir`.
    ///
    /// # Errors
    /// A folder cannot be created.
    pub(crate) fn new(sandbox: Arc<Sandbox>, cache_dir: &Path) -> Result<Self, EngineError> {
        let folders = cache_dir.join(FOLDERS);
        let made = fs::create_dir_all(&folders).and_then(|()| folders.canonicalize());
        let made = made.map_err(|error| EngineError::Unavailable {
            context: format!("preparing the folder {}", folders.display()),
            reason: error.to_string(),
        })?;
        let reserve = Reserve::new(Arc::clone(&sandbox), made);
        Ok(Self { sandbox, reserve })
    }

    /// Throw-away workers with a sandbox of their own, for building without an engine. The runtime and
    /// Deno's cache of it are kept below `cache_dir`.
    ///
    /// # Errors
    /// The runtime cannot be written, or the thread that starts processes cannot be started.
    pub fn start(confinement: Arc<Confinement>, cache_dir: &Path) -> Result<Self, EngineError> {
        let runtime =
            RuntimeFiles::materialise(cache_dir).map_err(|error| EngineError::Unavailable {
                context: format!("writing the runtime into {}", cache_dir.display()),
                reason: error.to_string(),
            })?;
        let network = NetworkPolicy::PublicOnly;
        let sandbox = Sandbox::new(SandboxConfig {
            confinement,
            cache_dir: cache_dir.to_owned(),
            runtime,
            network,
            ca_file: None,
        })?;
        Self::new(Arc::new(sandbox), cache_dir)
    }

    /// Evaluates a module, and returns the form in which that was done.
    async fn evaluate(
        &self,
        folder: &Path,
        module: Option<&SharedModule>,
        form: Form,
    ) -> Result<(Form, Described), EngineError> {
        started_again(|| async {
            let mut process = match factory::has_packages_beside(folder) {
                true => Process::start(&self.sandbox, folder).await?,
                false => self.reserve.take(module.cloned()).await?,
            };
            let form = match process.has_own_folder() {
                true => given(folder, &process.code, form).await?,
                false => Form::Module,
            };
            let code = self.sandbox.seen_code(&process.code);
            let child = &mut process.child;
            let pid = child.id();
            let is_ready = AtomicBool::new(false);
            let frames = frames(&code, form)?;
            let described = tokio::select! {
                described = exchange(child, process.token, &frames, &is_ready) => Some(described?),
                described = out_of_time(pid, &is_ready) => described,
            };
            Ok(described.map(|described| (form, described)))
        })
        .await
    }
}

#[async_trait]
impl Describe for ThrowawayWorkers {
    fn prepare(&self) {
        self.reserve.prepare();
    }

    async fn describe(
        &self,
        folder: &Path,
    ) -> Result<Result<Evaluated, ComponentError>, EngineError> {
        let shared = self.sandbox.shared_modules().to_owned();
        let module = on_disk(folder, move |folder| {
            readable(folder)?;
            shared_modules::publish_all(folder, &shared)?;
            SharedModule::of(folder)
        });
        let module = module.await?;
        let evaluated = |only_as_module| {
            move |description| Evaluated {
                description,
                only_as_module,
            }
        };
        let function = self.evaluate(folder, module.as_ref(), Form::Function);
        match function.await? {
            (Form::Function, Err(error)) if is_thrown(&error) => {
                let plain = self.evaluate(folder, module.as_ref(), Form::Module);
                let (_, described) = plain.await?;
                if described.is_ok() {
                    tracing::warn!(?error, "a component works as a module only");
                }
                Ok(described.map(evaluated(true)))
            }
            (_, described) => Ok(described.map(evaluated(false))),
        }
    }
}

/// Works on files of the folder, off the async threads.
async fn on_disk<T: Send + 'static>(
    folder: &Path,
    work: impl FnOnce(&Path) -> io::Result<T> + Send + 'static,
) -> Result<T, EngineError> {
    let path = folder.to_owned();
    let done = tokio::task::spawn_blocking(move || work(&path)).await;
    done.map_err(io::Error::other)
        .and_then(|done| done)
        .map_err(|error| EngineError::Spawn(format!("{}: {error}", folder.display())))
}

/// Gives a process the code in `folder`, and returns the form in which it has it.
async fn given(folder: &Path, code: &Path, form: Form) -> Result<Form, EngineError> {
    let code = code.to_owned();
    on_disk(folder, move |folder| {
        for name in [artifact::ENTRY, artifact::SOURCE_MAP] {
            let (from, to) = (folder.join(name), code.join(name));
            if fs::hard_link(&from, &to).is_err() {
                fs::copy(&from, &to)?;
            }
        }
        if form == Form::Function {
            factory::derive(&code)?;
        }
        readable(&code)?;
        Ok(match factory::is_in(&code)? {
            true => Form::Function,
            false => Form::Module,
        })
    })
    .await
}

/// Whether code threw this.
fn is_thrown(error: &ComponentError) -> bool {
    use failures::{ENDED, MEMORY, OUTPUT, TIME};
    ![ENDED, MEMORY, OUTPUT, TIME].contains(&error.name.as_str())
}

/// The result of an attempt, or a second one if the first process never began: that is nothing of the component's.
async fn started_again<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, EngineError>
where
    F: Future<Output = Result<Option<T>, EngineError>>,
{
    for _ in 0..2 {
        if let Some(described) = attempt().await? {
            return Ok(described);
        }
        tracing::warn!("a process that was to describe a component did not begin");
    }
    Err(EngineError::Unavailable {
        context: "describing a component".into(),
        reason: "a process did not begin in time; try again in a moment".into(),
    })
}

/// Waits until the process has used up its time, and returns that failure; `None` when it never began.
async fn out_of_time(pid: Option<u32>, is_ready: &AtomicBool) -> Option<Described> {
    let started = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        if started.elapsed() > START && !is_ready.load(Ordering::Relaxed) {
            return None;
        }
        let message = if pid.and_then(processor_time) > Some(PROCESSOR) {
            let seconds = PROCESSOR.as_secs();
            format!(
                "evaluating the component took more than {seconds} s of processor time; check it for an endless loop"
            )
        } else if started.elapsed() > WALL {
            let seconds = WALL.as_secs();
            format!(
                "evaluating the component took longer than {seconds} s; check it for a top-level await \
                 that never ends"
            )
        } else {
            continue;
        };
        return Some(Err(failure(failures::TIME, message)));
    }
}

async fn exchange(
    child: &mut Child,
    token: SessionToken,
    frames: &[u8],
    is_ready: &AtomicBool,
) -> Result<Described, EngineError> {
    let Pipes {
        mut stdin,
        stdout,
        stderr,
    } = Pipes::take(child)?;
    let stderr = tokio::spawn(tail(stderr));
    // A worker that is gone already says why on standard error.
    let _ = stdin.write_all(frames).await;
    if let Some(described) = answer(stdout, token, is_ready).await? {
        return Ok(described);
    }
    let told = stderr.await.unwrap_or_default();
    let signal = child.wait().await.ok().and_then(|status| status.signal());
    died(&told, is_ready.load(Ordering::Relaxed), signal)
}

/// The host's frames to a worker that only describes, after its greeting.
fn frames(folder: &Path, form: Form) -> Result<Vec<u8>, EngineError> {
    let is_factory = form == Form::Function;
    let file = match is_factory {
        true => folder.join(factory::entry()),
        false => folder.join(artifact::ENTRY),
    };
    let entry = Url::from_file_path(file)
        .map_err(|()| EngineError::Spawn(format!("{} is not absolute", folder.display())))?;
    let (env, kv) = (BTreeMap::new(), Map::new());
    let component = ComponentNumber::FIRST;
    let load = HostFrame::Load {
        component,
        entry: entry.as_str(),
        is_factory,
        env: &env,
        kv: &kv,
        kv_limit_bytes: KEY_VALUE_BYTES,
    };
    let mut bytes = Vec::new();
    for frame in [load, HostFrame::Describe { component }] {
        append_frame(&mut bytes, &frame)?;
    }
    Ok(bytes)
}

/// The worker's answer; `None` when it ends without one.
async fn answer(
    mut stdout: ChildStdout,
    token: SessionToken,
    is_ready: &AtomicBool,
) -> Result<Option<Described>, EngineError> {
    let mut reader = FrameReader::new(token, FRAME_BYTES);
    let mut output_bytes = 0;
    loop {
        while let Some(piece) = reader.next() {
            match piece {
                Piece::Frame(body) => {
                    output_bytes += body.len();
                    if let Some(described) = described(body, is_ready)? {
                        return Ok(Some(described));
                    }
                }
                Piece::Noise(noise) => output_bytes += noise.len(),
                Piece::TooLarge(_) => output_bytes = usize::MAX,
            }
            if output_bytes > OUTPUT_BYTES {
                let message = "evaluating the component produced too much output".to_owned();
                return Ok(Some(Err(failure(failures::OUTPUT, message))));
            }
        }
        let more = reader
            .fill(&mut stdout)
            .await
            .map_err(|error| EngineError::WorkerLost(error.to_string()))?;
        if !more {
            return Ok(None);
        }
    }
}

fn described(body: &[u8], is_ready: &AtomicBool) -> Result<Option<Described>, EngineError> {
    let frame =
        WorkerFrame::parse(body).map_err(|error| EngineError::Protocol(error.to_string()))?;
    Ok(match frame.kind {
        Kind::Ready => {
            is_ready.store(true, Ordering::Relaxed);
            None
        }
        Kind::Described => Some(Ok(frame.description.unwrap_or_default())),
        Kind::LoadFailed | Kind::DescribeFailed => Some(Err(frame.error.unwrap_or_default())),
        _ => None,
    })
}

/// The meaning of a worker that ended without an answer. The heap's end is the component's doing, and so is every
/// other end once the runtime was loaded, but for one that the system makes.
fn died(stderr: &str, was_ready: bool, signal: Option<i32>) -> Result<Described, EngineError> {
    if stderr.to_lowercase().contains("out of memory") {
        let message = format!("evaluating the component needs more than {HEAP_MIB} MiB of memory");
        return Ok(Err(failure(failures::MEMORY, message)));
    }
    if was_ready && signal != Some(Signal::KILL.as_raw()) {
        tracing::info!(
            stderr,
            signal,
            "a component ended the process that described it"
        );
        let message = "evaluating the component ends the process that it is evaluated in";
        return Ok(Err(failure(failures::ENDED, message.to_owned())));
    }
    let reason = stderr.trim();
    let reason = if reason.is_empty() {
        "it ended while evaluating a component"
    } else {
        reason
    };
    Err(EngineError::WorkerLost(reason.to_owned()))
}

fn failure(name: &str, message: String) -> ComponentError {
    ComponentError {
        name: name.to_owned(),
        message,
        ..ComponentError::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{EngineError, Signal, died, started_again};

    #[tokio::test]
    async fn a_process_that_never_began_is_started_once_more() {
        let mut attempts = [None, Some(Ok::<_, ()>(json!({})))].into_iter();
        let described =
            started_again(|| std::future::ready(Ok(attempts.next().expect("two")))).await;
        assert_eq!(described.expect("a host").expect("a component"), json!({}));
        let mut attempts = 0;
        let failed = started_again(|| {
            attempts += 1;
            std::future::ready(Ok(None::<()>))
        })
        .await;
        assert!(
            matches!(failed, Err(EngineError::Unavailable { .. })),
            "{failed:?}"
        );
        assert_eq!(attempts, 2);
    }

    #[test]
    fn whose_fault_an_end_is() {
        let kill = Some(Signal::KILL.as_raw());
        for (stderr, was_ready, signal, is_component) in [
            ("", true, None, true),
            ("panicked", true, Some(Signal::ABORT.as_raw()), true),
            ("V8: out of memory", true, kill, true),
            ("", true, kill, false),
            ("no such file", false, None, false),
        ] {
            let ended = died(stderr, was_ready, signal);
            assert_eq!(
                ended.is_ok(),
                is_component,
                "{stderr} {was_ready} {signal:?}"
            );
        }
    }
}
