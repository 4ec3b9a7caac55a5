//! Processes under measurement: starting them, and what the system knows of them.

use std::{net::SocketAddr, path::PathBuf, process::Stdio, time::Duration};

use anyhow::{Context as _, Result, bail};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

/// The text that every one of them prints before its address.
const READY: &str = "ready on ";
/// A start may recover a data folder.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// The unit of processor time in `/proc`; fixed on Linux whatever the kernel's own is.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process that is killed when it is dropped.
pub(crate) struct Process {
    child: Child,
    pid: u32,
}

impl Process {
    /// Starts it and waits for the line that says where it listens.
    pub(crate) async fn start(command: &mut Command) -> Result<(Self, SocketAddr)> {
        let shown = format!("{:?}", command.as_std().get_program());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {shown}"))?;
        let pid = child.id().context("the process ended at once")?;
        let (stdout, stderr) = child
            .stdout
            .take()
            .zip(child.stderr.take())
            .context("no pipes")?;
        let (said, mut lines) = tokio::sync::mpsc::unbounded_channel();
        forward(stdout, said.clone());
        forward(stderr, said);
        let mut heard = Vec::new();
        let waiting = async {
            while let Some(line) = lines.recv().await {
                if let Some(address) = address_in(&line) {
                    return Some(address);
                }
                heard.push(line);
            }
            None
        };
        match tokio::time::timeout(START_DEADLINE, waiting).await {
            Ok(Some(address)) => Ok((Self { child, pid }, address)),
            _ => bail!("{shown} did not get ready:\n{}", heard.join("\n")),
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Ends it and waits until it is gone.
    pub(crate) async fn kill(mut self) -> Result<()> {
        Ok(self.child.kill().await?)
    }

    /// Seconds of processor time that it and its children have used.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let tree = std::iter::once(self.pid).chain(children(self.pid));
        tree.filter_map(cpu_ticks).sum::<f64>() / TICKS_PER_SECOND
    }

    /// Resident memory without files, in bytes.
    pub(crate) fn resident_bytes(&self) -> u64 {
        let status =
            std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    }
}

/// Processes that `pid` started and that still run.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    ids.filter(|id| stat(*id).is_some_and(|fields| fields.get(1) == Some(&pid.to_string())))
        .collect()
}

/// Fields of `/proc/{pid}/stat` after the name: the state is the first of them.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

fn cpu_ticks(pid: u32) -> Option<f64> {
    let fields = stat(pid)?;
    let number = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some(number(11)? + number(12)?)
}

fn address_in(line: &str) -> Option<SocketAddr> {
    let (_, address) = line.split_once(READY)?;
    let address = address.trim();
    address
        .strip_prefix("http://")
        .unwrap_or(address)
        .parse()
        .ok()
}

/// Reads for as long as there is output, so that a full pipe never holds the process up.
fn forward(
    stream: impl tokio::io::AsyncRead + Unpin + Send + 'static,
    said: tokio::sync::mpsc::UnboundedSender<String>,
) {
    tokio::spawn(async move {
        let mut lines = BufReader::new(stream).lines();
        while let Ok(Some(line)) = lines.next_line().await {
            // Nobody listens once the process is ready.
            let _ = said.send(line);
        }
    });
}

/// This program.
pub(crate) fn own_path() -> Result<PathBuf> {
    std::env::current_exe().context("this program does not know where it is")
}

/// The release binary beside this program.
pub(crate) fn headwater() -> Result<PathBuf> {
    let path = own_path()?.with_file_name("headwater");
    if !path.is_file() {
        bail!(
            "{} is missing; build it with `cargo build --release -p headwater`",
            path.display()
        );
    }
    Ok(path)
}

/// Deno as the node finds it.
pub(crate) fn deno() -> Result<PathBuf> {
    let asked = std::process::Command::new(headwater()?)
        .arg("runtime")
        .output()?;
    let path = String::from_utf8(asked.stdout)?;
    if path.trim().is_empty() {
        bail!(
            "`headwater runtime` names no Deno: {}",
            String::from_utf8_lossy(&asked.stderr)
        );
    }
    Ok(PathBuf::from(path.trim()))
}

/// A process of Deno with everything allowed, running a script beside this crate's manifest.
pub(crate) fn deno_script(script: &str) -> Result<Command> {
    let mut command = Command::new(deno()?);
    command
        .args(["run", "--quiet", "--no-config", "--no-lock", "--allow-all"])
        .arg(PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(script))
        .env("DENO_NO_UPDATE_CHECK", "1")
        .env("NO_COLOR", "1");
    Ok(command)
}

/// Tasks that ran or waited to run during the last minute: what else the machine does.
pub(crate) fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or_default().to_owned()
}
