//! A process of ours: its output is kept, one of its lines can be awaited, and it does not outlive
//! the test.

use std::{
    io::{BufRead as _, BufReader, Read},
    net::{IpAddr, Ipv4Addr, TcpListener},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Condvar, Mutex, mpsc},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// Generous: a first start may install a runtime.
const START_DEADLINE: Duration = Duration::from_secs(180);

/// Generous: what a process has printed lies in a pipe until a thread of the test reads it.
const OUTPUT_DEADLINE: Duration = Duration::from_secs(30);

/// How often a server is started at another port.
const TRIES: usize = 3;

/// A started process; dropping it kills it.
#[derive(Debug)]
pub(crate) struct Process {
    name: String,
    /// `None` while somebody waits for it.
    child: Option<Child>,
    output: Arc<Output>,
    /// The threads that read its output.
    readers: Vec<JoinHandle<()>>,
}

/// The lines that a process has printed.
#[derive(Debug, Default)]
struct Output {
    lines: Mutex<Vec<String>>,
    grown: Condvar,
}

impl Process {
    /// Starts the command and waits until it prints a line in which `is_ready` finds something.
    pub(crate) fn start<T>(
        name: &str,
        command: &mut Command,
        is_ready: impl Fn(&str) -> Option<T>,
    ) -> (Self, T) {
        Self::attempt(name, command, is_ready).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The same for a command that may end before it is ready; the error has what it printed.
    pub(crate) fn attempt<T>(
        name: &str,
        command: &mut Command,
        is_ready: impl Fn(&str) -> Option<T>,
    ) -> Result<(Self, T), String> {
        let spawned = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child =
            spawned.unwrap_or_else(|error| panic!("cannot start {name} ({command:?}): {error}"));
        let output = Arc::<Output>::default();
        let (lines, printed) = mpsc::channel();
        let readers = streams(&mut child).into_iter();
        let readers = readers.map(|stream| keep_lines(stream, Arc::clone(&output), lines.clone()));
        let readers = readers.collect();
        drop(lines);
        let mut process = Self {
            name: name.to_owned(),
            child: Some(child),
            output,
            readers,
        };
        let deadline = Instant::now() + START_DEADLINE;
        loop {
            match printed.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    if let Some(found) = is_ready(&line) {
                        return Ok((process, found));
                    }
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {
                    panic!("{name} did not become ready in time:\n{}", process.output())
                }
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    let status = process.child.as_mut().map(Child::wait);
                    return Err(format!(
                        "{name} ended before it was ready ({status:?}):\n{}",
                        process.output()
                    ));
                }
            }
        }
    }

    /// Its output so far, of standard output and error.
    pub(crate) fn output(&self) -> String {
        self.output.lines.lock().unwrap().join("\n")
    }

    /// Its output up to now, as soon as a line of it has this text.
    #[track_caller]
    pub(crate) fn output_with(&self, text: &str) -> String {
        let lines = self.output.lines.lock().unwrap();
        let is_missing = |lines: &mut Vec<String>| !lines.iter().any(|line| line.contains(text));
        let waited = self
            .output
            .grown
            .wait_timeout_while(lines, OUTPUT_DEADLINE, is_missing);
        let (lines, deadline) = waited.unwrap();
        assert!(
            !deadline.timed_out(),
            "{} has not printed {text:?}",
            self.name
        );
        lines.join("\n")
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().expect("nobody waits for it").id()
    }

    /// SIGKILL; returns when it is gone.
    pub(crate) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Whether it has ended by itself.
    pub(crate) fn has_ended(&mut self) -> bool {
        let ended = self.child.as_mut().map(Child::try_wait);
        !matches!(ended, Some(Ok(None)))
    }

    /// Sends a signal by its name.
    pub(crate) fn signal(&self, name: &str) {
        let id = self.id().to_string();
        let sent = Command::new("kill").args(["-s", name, "--", &id]).status();
        assert!(
            sent.is_ok_and(|status| status.success()),
            "cannot send SIG{name} to {}",
            self.name
        );
    }

    /// Waits until it ends by itself and all that it printed is read; the servers of the test go on meanwhile.
    pub(crate) async fn wait(&mut self) -> ExitStatus {
        let mut child = self.child.take().expect("nobody else waits for it");
        let readers = std::mem::take(&mut self.readers);
        let waiting = tokio::task::spawn_blocking(move || {
            let status = child.wait().unwrap();
            for reader in readers {
                reader.join().unwrap();
            }
            (child, status)
        });
        let (child, status) = waiting.await.unwrap();
        self.child = Some(child);
        status
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        if std::thread::panicking() {
            eprintln!("---- {} printed ----\n{}\n----", self.name, self.output());
        }
    }
}

fn streams(child: &mut Child) -> Vec<Box<dyn Read + Send>> {
    let stdout = child
        .stdout
        .take()
        .map(|stream| Box::new(stream) as Box<dyn Read + Send>);
    let stderr = child
        .stderr
        .take()
        .map(|stream| Box::new(stream) as Box<dyn Read + Send>);
    stdout.into_iter().chain(stderr).collect()
}

fn keep_lines(
    stream: Box<dyn Read + Send>,
    kept: Arc<Output>,
    lines: mpsc::Sender<String>,
) -> JoinHandle<()> {
    std::thread::spawn(move || {
        for line in BufReader::new(stream).split(b'\n').map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line).into_owned();
            kept.lines.lock().unwrap().push(line.clone());
            kept.grown.notify_all();
            // Nobody listens any more once the process is ready.
            let _ = lines.send(line);
        }
    })
}

/// Starts a server that cannot choose a port itself at one that was free a moment ago, and waits until it prints a line
/// with that text; returns the port, too. If another process takes it in that moment, the server ends, and another try has
/// another port.
pub(crate) fn start_at_a_port(
    name: &str,
    ready: &str,
    command: impl Fn(u16) -> Command,
) -> (Process, u16) {
    let is_ready = |line: &str| line.contains(ready).then_some(());
    let mut failures = Vec::new();
    while failures.len() < TRIES {
        let port = free_port(Ipv4Addr::LOCALHOST.into());
        match Process::attempt(name, &mut command(port), is_ready) {
            Ok((process, ())) => return (process, port),
            Err(failure) => failures.push(failure),
        }
    }
    panic!(
        "{name} does not start in {TRIES} tries: {}",
        failures.join("\n")
    );
}

/// A port that was free a moment ago.
pub(crate) fn free_port(ip: IpAddr) -> u16 {
    let listener = TcpListener::bind((ip, 0)).unwrap();
    listener.local_addr().unwrap().port()
}
