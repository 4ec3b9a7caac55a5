//! Processes under measurement: starting them, and what the system knows of them.

use std::{
    io::ErrorKind,
    net::SocketAddr,
    path::PathBuf,
    process::Stdio,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, Command},
};

/// The text that every one of them prints before its address.
const READY: &str = "ready on ";
/// A start may recover a large data folder, and a slow one is a figure.
const START_DEADLINE: Duration = Duration::from_secs(300);
/// Killed processes are gone by then, however much memory the system takes back.
const END_DEADLINE: Duration = Duration::from_secs(10);
/// `ESRCH`, which has no name in the standard library.
const NO_SUCH_PROCESS: i32 = 3;
/// The unit of processor time in `/proc`; fixed on Linux whatever the kernel's own is.
const TICKS_PER_SECOND: f64 = 100.0;

/// A process that is killed, with all that it started, when it is dropped.
pub(crate) struct Process {
    child: Child,
    pid: u32,
}

impl Process {
    /// Starts it and waits for the line that says where it listens.
    pub(crate) async fn start(command: &mut Command) -> Result<(Self, SocketAddr)> {
        Self::start_until(command, address_in).await
    }

    /// Starts it and waits for the line in which `ready` finds something.
    pub(crate) async fn start_until<T>(
        command: &mut Command,
        ready: impl Fn(&str) -> Option<T>,
    ) -> Result<(Self, T)> {
        let shown = format!("{:?}", command.as_std().get_program());
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {shown}"))?;
        let pid = child.id().context("the process ended at once")?;
        let pipes = child.stdout.take().zip(child.stderr.take());
        let process = Self { child, pid };
        let (stdout, stderr) = pipes.context("no pipes")?;
        let (said, mut lines) = tokio::sync::mpsc::unbounded_channel();
        forward(stdout, said.clone());
        forward(stderr, said);
        let mut heard = Vec::new();
        let waiting = async {
            while let Some(line) = lines.recv().await {
                if let Some(found) = ready(&line) {
                    return Some(found);
                }
                heard.push(line);
            }
            None
        };
        match tokio::time::timeout(START_DEADLINE, waiting).await {
            Ok(Some(found)) => Ok((process, found)),
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

    /// Memory of it and all that it started, in bytes; memory that processes share counts in parts.
    pub(crate) fn proportional_bytes(&self) -> Result<u64> {
        self.tree().into_iter().map(proportional_bytes).sum()
    }

    /// Memory of itself, counted in the same way.
    pub(crate) fn own_proportional_bytes(&self) -> Result<u64> {
        proportional_bytes(self.pid)
    }

    /// Its open files and connections.
    pub(crate) fn descriptors(&self) -> usize {
        count_in(&format!("/proc/{}/fd", self.pid))
    }

    /// Its own threads.
    pub(crate) fn threads(&self) -> usize {
        count_in(&format!("/proc/{}/task", self.pid))
    }

    /// Seconds of processor time that it and all that it started have used, those that have ended too.
    pub(crate) fn cpu_seconds(&self) -> f64 {
        let ticks = self.tree().into_iter().filter_map(cpu_ticks);
        ticks.sum::<f64>() / TICKS_PER_SECOND
    }

    /// Itself and its descendants.
    pub(crate) fn tree(&self) -> Vec<u32> {
        let parents: Vec<(u32, u32)> = processes()
            .filter_map(|id| Some((id, stat(id)?.get(1)?.parse().ok()?)))
            .collect();
        let mut tree = vec![self.pid];
        let mut at = 0;
        while let Some(&parent) = tree.get(at) {
            let started = parents.iter().filter(|(_, of)| *of == parent);
            tree.extend(started.map(|(id, _)| *id));
            at += 1;
        }
        tree
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

impl Drop for Process {
    /// Also when a benchmark fails or is interrupted: nothing stays behind, and the folder can be removed.
    fn drop(&mut self) {
        let tree: Vec<_> = self
            .tree()
            .into_iter()
            .map(|id| (id, beginning(id)))
            .collect();
        let _ = self.child.start_kill();
        let until = Instant::now() + END_DEADLINE;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        for (id, began) in tree.into_iter().skip(1) {
            if began.is_some() && beginning(id) == began {
                // Workers end with their node by themselves, and other processes do not.
                let mut kill = std::process::Command::new("kill");
                let _ = kill
                    .args(["-9", &id.to_string()])
                    .stderr(Stdio::null())
                    .status();
            }
        }
    }
}

/// Processes that `pid` started and that still run.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let pid = pid.to_string();
    processes()
        .filter(|id| stat(*id).is_some_and(|fields| fields.get(1) == Some(&pid)))
        .collect()
}

fn processes() -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Fields of `/proc/{pid}/stat` after the name: the state is the first of them.
fn stat(pid: u32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = text.rsplit_once(") ")?;
    Some(fields.split(' ').map(str::to_owned).collect())
}

fn proportional_bytes(pid: u32) -> Result<u64> {
    let rollup = match std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")) {
        Ok(rollup) => rollup,
        // It has ended meanwhile, or has no memory any more.
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
        Err(error) if error.raw_os_error() == Some(NO_SUCH_PROCESS) => return Ok(0),
        Err(error) => return Err(error).context("reading the memory of a process"),
    };
    let line = rollup.lines().find_map(|line| line.strip_prefix("Pss:"));
    let kib = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    Ok(kib.unwrap_or(0) * 1024)
}

fn count_in(folder: &str) -> usize {
    std::fs::read_dir(folder).map_or(0, Iterator::count)
}

/// The moment at which the process began, which tells it from a later one with its id.
fn beginning(pid: u32) -> Option<String> {
    stat(pid)?.into_iter().nth(19)
}

/// Its own, and those of its children that have ended.
fn cpu_ticks(pid: u32) -> Option<f64> {
    let fields = stat(pid)?;
    let own_and_childrens = fields.get(11..15)?;
    own_and_childrens
        .iter()
        .map(|field| field.parse::<f64>().ok())
        .sum()
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
