//! A node of a binary, on a port and with a data folder of its own.

mod http;

use std::{
    io::{BufRead as _, BufReader, Read},
    net::SocketAddr,
    path::Path,
    process::{Child, Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

/// The text that a node prints before its address.
const READY: &str = "is ready on http://";
/// A first start may install Deno.
const START_DEADLINE: Duration = Duration::from_secs(600);
const API_KEY: &str = "hw_xtask";
/// Environment of the machine that a node keeps: where Deno is.
const KEPT: [&str; 2] = ["HEADWATER_DENO", "HEADWATER_CACHE_DIR"];

/// A running node; dropping it ends it.
pub(crate) struct Node {
    process: Child,
    address: SocketAddr,
}

impl Node {
    /// Starts a node on `data_dir`, which an earlier one may have left, and waits until it is ready.
    pub(crate) fn start(binary: &Path, data_dir: &Path) -> Result<Self> {
        let mut command = Command::new(binary);
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if name.starts_with("HEADWATER_") && !KEPT.contains(&&*name) {
                command.env_remove(&*name);
            }
        }
        // One warm worker, so that it is known which process a source gets.
        command
            .env("HEADWATER_API_KEY", API_KEY)
            .args(["serve", "--listen", "127.0.0.1:0", "--warm-workers", "1"])
            .arg("--data-dir")
            .arg(data_dir)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut process = command
            .spawn()
            .with_context(|| format!("cannot start {}", binary.display()))?;
        let (said, lines) = mpsc::channel();
        forward(process.stdout.take(), said.clone());
        forward(process.stderr.take(), said);
        let mut heard = Vec::new();
        while let Ok(line) = lines.recv_timeout(START_DEADLINE) {
            if let Some((_, address)) = line.split_once(READY) {
                let address = address.trim().parse()?;
                return Ok(Self { process, address });
            }
            heard.push(line);
        }
        // It may run without being ready.
        let _ = process.kill();
        bail!("the node did not get ready:\n{}", heard.join("\n"))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// The answer to a request that has to succeed.
    pub(crate) fn get(&self, path: &str) -> Result<Value> {
        self.succeed("GET", path, None)
    }

    /// The answer to a request that has to succeed.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<Value> {
        self.succeed("POST", path, Some(body))
    }

    pub(crate) fn delete(&self, path: &str) -> Result<()> {
        self.succeed("DELETE", path, None).map(|_| ())
    }

    fn succeed(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let (status, answer) = http::exchange(self.address, API_KEY, method, path, body)?;
        if (200..300).contains(&status) {
            return Ok(answer);
        }
        let message = answer["error"]["message"].as_str();
        bail!(
            "{}",
            message.map_or_else(|| format!("status {status}: {answer}"), str::to_owned)
        )
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        // Nothing is lost: the store is made for it.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Reads for as long as there is output, so that a full pipe never holds the node up.
fn forward(stream: Option<impl Read + Send + 'static>, said: mpsc::Sender<String>) {
    let Some(stream) = stream else {
        return;
    };
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            // Nobody listens once the node is ready.
            let _ = said.send(line);
        }
    });
}
