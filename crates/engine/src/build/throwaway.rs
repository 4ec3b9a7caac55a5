//! A worker that lives for one description: the runtime in a process that may read the code folder
//! and nothing else, spoken to in the worker protocol.

use std::{
    io,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use async_trait::async_trait;
use headwater_model::outcome::ComponentError;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};
use url::Url;

use super::describe::Describe;
use crate::{api::EngineError, artifact};

/// How long evaluating a module may take.
const WALL: Duration = Duration::from_secs(10);
/// V8's heap.
const HEAP_MIB: u32 = 256;
/// Harmless facts of the machine that common packages ask for as they load (`os.release()` for a user agent).
const SYSTEM_FACTS: &str = "--allow-sys=cpus,hostname,homedir,loadavg,osRelease,osUptime,systemMemoryInfo,uid,gid,username";
/// Everything that the worker writes.
const OUTPUT_BYTES: usize = 16 * 1024 * 1024;
/// The session token: the worker's output is read to find frames, and the process dies with them.
const TOKEN_BYTES: usize = 16;

/// Starts throw-away workers.
#[derive(Debug, Clone)]
pub struct ThrowawayWorkers {
    /// Deno.
    pub deno: PathBuf,
    /// The runtime's entry, `worker/main.ts`.
    pub runtime_main: PathBuf,
    /// The runtime's import map.
    pub runtime_import_map: PathBuf,
    /// Deno's cache for the runtime's own modules.
    pub deno_dir: PathBuf,
}

#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Frame {
    Described {
        component: Value,
    },
    LoadFailed {
        error: ComponentError,
    },
    DescribeFailed {
        error: ComponentError,
    },
    #[serde(other)]
    Other,
}

#[async_trait]
impl Describe for ThrowawayWorkers {
    async fn describe(&self, folder: &Path) -> Result<Result<Value, ComponentError>, EngineError> {
        let mut child = self.spawn(folder)?;
        let talk = self.talk(&mut child, folder);
        match tokio::time::timeout(WALL, talk).await {
            Ok(answer) => answer,
            Err(_) => Ok(Err(failure(
                "TimeoutError",
                format!(
                    "evaluating the component took longer than {} s; is there an endless loop or a pending top-level await?",
                    WALL.as_secs()
                ),
            ))),
        }
    }
}

impl ThrowawayWorkers {
    fn spawn(&self, folder: &Path) -> Result<Child, EngineError> {
        let mut import_map = std::ffi::OsString::from("--import-map=");
        import_map.push(&self.runtime_import_map);
        let mut read = std::ffi::OsString::from("--allow-read=");
        read.push(folder);
        Command::new(&self.deno)
            .args([
                "run",
                "--quiet",
                "--no-prompt",
                "--no-config",
                "--no-remote",
                "--cached-only",
                "--no-lock",
            ])
            .args(["--node-modules-dir=manual", "--allow-env", SYSTEM_FACTS])
            .arg(format!("--v8-flags=--max-old-space-size={HEAP_MIB}"))
            .arg(read)
            .arg(import_map)
            .arg(&self.runtime_main)
            .current_dir(folder)
            .env_clear()
            .env("DENO_DIR", &self.deno_dir)
            .env("DENO_NO_UPDATE_CHECK", "1")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| EngineError::Spawn(format!("{}: {error}", self.deno.display())))
    }

    async fn talk(
        &self,
        child: &mut Child,
        folder: &Path,
    ) -> Result<Result<Value, ComponentError>, EngineError> {
        let entry = Url::from_file_path(folder.join(artifact::ENTRY))
            .map_err(|()| EngineError::Spawn(format!("{} is not absolute", folder.display())))?;
        let token = token()?;
        let frames = [
            json!({ "type": "hello", "version": 1, "token": hex::encode(token) }),
            json!({ "type": "load", "entry": entry.as_str(), "env": {}, "kv": {}, "self_alias": [], "api_socket": null }),
            json!({ "type": "describe" }),
        ];
        let (Some(mut stdin), Some(mut stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(EngineError::Spawn("a worker without pipes".into()));
        };
        for frame in frames {
            let body = frame.to_string();
            let length = u32::try_from(body.len())
                .map_err(|error| EngineError::Protocol(error.to_string()))?;
            let bytes = [&length.to_be_bytes(), body.as_bytes()].concat();
            // A worker that is gone already says why on stderr.
            let _ = stdin.write_all(&bytes).await;
        }
        let stderr = tokio::spawn(tail(stderr));
        let mut output = Vec::new();
        loop {
            let mut chunk = vec![0; 64 * 1024];
            let read = stdout
                .read(&mut chunk)
                .await
                .map_err(|error| EngineError::WorkerLost(error.to_string()))?;
            if read == 0 {
                let said = stderr.await.unwrap_or_default();
                return died(&said);
            }
            output.extend_from_slice(&chunk[..read]);
            if output.len() > OUTPUT_BYTES {
                return Ok(Err(failure(
                    "OutputError",
                    "evaluating the component writes too much".to_owned(),
                )));
            }
            while let Some(body) = take_frame(&mut output, &token) {
                match serde_json::from_slice(&body)
                    .map_err(|error| EngineError::Protocol(error.to_string()))?
                {
                    Frame::Described { component } => return Ok(Ok(component)),
                    Frame::LoadFailed { error } | Frame::DescribeFailed { error } => {
                        return Ok(Err(error));
                    }
                    Frame::Other => {}
                }
            }
        }
    }
}

/// Takes the first complete frame out of `output`, with the noise before it.
fn take_frame(output: &mut Vec<u8>, token: &[u8]) -> Option<Vec<u8>> {
    let at = output
        .windows(token.len())
        .position(|window| window == token)?;
    let header = at + token.len();
    let length: [u8; 4] = output.get(header..header + 4)?.try_into().ok()?;
    let end = header + 4 + u32::from_be_bytes(length) as usize;
    let body = output.get(header + 4..end)?.to_vec();
    output.drain(..end);
    Some(body)
}

/// What a worker means that ended without an answer: the heap's end is the component's doing.
fn died(stderr: &str) -> Result<Result<Value, ComponentError>, EngineError> {
    if stderr.to_lowercase().contains("out of memory") {
        return Ok(Err(failure(
            "MemoryError",
            format!("evaluating the component needs more than {HEAP_MIB} MiB of memory"),
        )));
    }
    let reason = stderr.trim();
    Err(EngineError::WorkerLost(if reason.is_empty() {
        "it ended while evaluating a component".into()
    } else {
        reason.into()
    }))
}

async fn tail(mut stderr: impl tokio::io::AsyncRead + Unpin) -> String {
    const KEPT: usize = 4096;
    let mut kept = Vec::new();
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        kept.extend_from_slice(&chunk[..read]);
        if kept.len() > 2 * KEPT {
            kept.drain(..kept.len() - KEPT);
        }
    }
    String::from_utf8_lossy(&kept).into_owned()
}

fn token() -> Result<[u8; TOKEN_BYTES], EngineError> {
    let mut token = [0; TOKEN_BYTES];
    let spawn = |error: io::Error| EngineError::Spawn(format!("no randomness: {error}"));
    getrandom::fill(&mut token).map_err(|error| spawn(io::Error::other(error.to_string())))?;
    Ok(token)
}

fn failure(name: &str, message: String) -> ComponentError {
    ComponentError {
        name: name.to_owned(),
        message,
        ..ComponentError::default()
    }
}
