//! A worker that lives for one description: the sandbox with no network and no folder to write to.
//! Not responsible for how processes are started or framed; that is the sandbox's and the worker's.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use async_trait::async_trait;
use headwater_model::outcome::ComponentError;
use serde_json::{Map, Value};
use tokio::{
    io::AsyncWriteExt,
    process::{Child, ChildStdout},
    time::Instant,
};
use url::Url;

use super::describe::Describe;
use crate::{
    api::EngineError,
    artifact,
    network::NetworkPolicy,
    runtime_files::RuntimeFiles,
    sandbox::{Permissions, Sandbox, SandboxConfig},
    worker::{
        frames::{FrameReader, Piece, SessionToken, append_frame},
        process::{Pipes, processor_time, tail},
        protocol::{HostFrame, Kind, VERSION, WorkerFrame},
    },
};

/// How much processor time evaluating a module may take: a busy machine makes no module worse.
const PROCESSOR: Duration = Duration::from_secs(10);
/// How long it may take at most: an import may wait for ever.
const WALL: Duration = Duration::from_secs(60);
/// How often the processor time is looked at.
const LOOK: Duration = Duration::from_millis(200);
/// V8's heap.
const HEAP_MIB: u32 = 256;
/// A description larger than this is refused.
const FRAME_BYTES: usize = 4 * 1024 * 1024;
/// Everything that the worker writes.
const OUTPUT_BYTES: usize = 16 * 1024 * 1024;

/// Starts throw-away workers.
#[derive(Debug, Clone)]
pub struct ThrowawayWorkers {
    sandbox: Arc<Sandbox>,
}

/// What a worker has to say of a component, or why it cannot.
type Described = Result<Value, ComponentError>;

impl ThrowawayWorkers {
    /// Throw-away workers of a sandbox that there is already.
    pub(crate) fn new(sandbox: Arc<Sandbox>) -> Self {
        Self { sandbox }
    }

    /// Throw-away workers with a sandbox of their own, for building without an engine. The runtime and
    /// Deno's cache of it are kept below `cache_dir`.
    ///
    /// # Errors
    /// The runtime cannot be written, or the thread that starts processes cannot be started.
    pub fn start(deno: PathBuf, cache_dir: &Path) -> Result<Self, EngineError> {
        let runtime =
            RuntimeFiles::materialise(cache_dir).map_err(|error| EngineError::Unavailable {
                context: format!("writing the runtime into {}", cache_dir.display()),
                reason: error.to_string(),
            })?;
        let deno_dir = cache_dir.join("worker-deno-dir");
        let network = NetworkPolicy::PublicOnly;
        Ok(Self::new(Arc::new(Sandbox::new(SandboxConfig {
            deno,
            deno_dir,
            runtime,
            network,
            ca_file: None,
        })?)))
    }
}

#[async_trait]
impl Describe for ThrowawayWorkers {
    async fn describe(&self, folder: &Path) -> Result<Described, EngineError> {
        let permissions = Permissions {
            read: vec![folder.to_owned()],
            write: Vec::new(),
            network: false,
            heap_mib: HEAP_MIB,
        };
        let mut child = self.sandbox.spawn(folder, folder, &permissions).await?;
        let pid = child.id();
        tokio::select! {
            described = talk(&mut child, folder) => described,
            message = out_of_time(pid) => Ok(Err(failure("TimeoutError", message))),
        }
    }
}

/// Waits until the process has had the time that it may take, and says so.
async fn out_of_time(pid: Option<u32>) -> String {
    let started = Instant::now();
    loop {
        tokio::time::sleep(LOOK).await;
        if pid.and_then(processor_time) > Some(PROCESSOR) {
            let seconds = PROCESSOR.as_secs();
            return format!(
                "evaluating the component takes more than {seconds} s of processor time; is there an endless loop?"
            );
        }
        if started.elapsed() > WALL {
            let seconds = WALL.as_secs();
            return format!(
                "evaluating the component took longer than {seconds} s; \
                 is there a top-level await that waits for ever?"
            );
        }
    }
}

async fn talk(child: &mut Child, folder: &Path) -> Result<Described, EngineError> {
    let Pipes {
        mut stdin,
        stdout,
        stderr,
    } = Pipes::take(child)?;
    let token = SessionToken::random()?;
    let stderr = tokio::spawn(tail(stderr));
    // A worker that is gone already says why on standard error.
    let _ = stdin.write_all(&opening(token, folder)?).await;
    match answer(stdout, token).await? {
        Some(described) => Ok(described),
        None => died(&stderr.await.unwrap_or_default()),
    }
}

/// Everything the host says to a worker that only describes.
fn opening(token: SessionToken, folder: &Path) -> Result<Vec<u8>, EngineError> {
    let entry = Url::from_file_path(folder.join(artifact::ENTRY))
        .map_err(|()| EngineError::Spawn(format!("{} is not absolute", folder.display())))?;
    let (env, kv) = (BTreeMap::new(), Map::new());
    let load = HostFrame::Load {
        entry: entry.as_str(),
        env: &env,
        kv: &kv,
        routes: Vec::new(),
    };
    let hello = HostFrame::Hello {
        version: VERSION,
        token: token.to_hex(),
    };
    let mut bytes = Vec::new();
    for frame in [hello, load, HostFrame::Describe] {
        append_frame(&mut bytes, &frame)?;
    }
    Ok(bytes)
}

/// What the worker answers; `None` when it ends without an answer.
async fn answer(
    mut stdout: ChildStdout,
    token: SessionToken,
) -> Result<Option<Described>, EngineError> {
    let mut reader = FrameReader::new(token, FRAME_BYTES);
    let mut output_bytes = 0;
    loop {
        while let Some(piece) = reader.next() {
            match piece {
                Piece::Frame(body) => {
                    output_bytes += body.len();
                    if let Some(described) = described(body)? {
                        return Ok(Some(described));
                    }
                }
                Piece::Noise(noise) => output_bytes += noise.len(),
                Piece::TooLarge(_) => output_bytes = usize::MAX,
            }
            if output_bytes > OUTPUT_BYTES {
                let message = "evaluating the component writes or describes too much".to_owned();
                return Ok(Some(Err(failure("OutputError", message))));
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

fn described(body: &[u8]) -> Result<Option<Described>, EngineError> {
    let frame =
        WorkerFrame::parse(body).map_err(|error| EngineError::Protocol(error.to_string()))?;
    Ok(match frame.kind {
        Kind::Described => Some(Ok(frame.component.unwrap_or_default())),
        Kind::LoadFailed | Kind::DescribeFailed => Some(Err(frame.error.unwrap_or_default())),
        _ => None,
    })
}

/// What a worker means that ended without an answer: the heap's end is the component's doing.
fn died(stderr: &str) -> Result<Described, EngineError> {
    if stderr.to_lowercase().contains("out of memory") {
        let message = format!("evaluating the component needs more than {HEAP_MIB} MiB of memory");
        return Ok(Err(failure("MemoryError", message)));
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
