//! A command that goes on: what it prints is awaited, and keys are typed into its terminal.

use std::{
    fs::File,
    io::{Read, Write as _},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::Duration,
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize},
};
use tokio::{
    process::{Child, Command},
    sync::Notify,
};

/// Generous: what is awaited comes at once, or never.
const DEADLINE: Duration = Duration::from_secs(90);
const SCREEN: Winsize = Winsize {
    ws_row: 50,
    ws_col: 160,
    ws_xpixel: 0,
    ws_ypixel: 0,
};

/// A started command; dropping it kills it.
pub struct Dialogue {
    child: Child,
    printed: Arc<Printed>,
    /// Up to where what was printed has been awaited.
    read: usize,
    keyboard: Option<File>,
    data: Arc<Printed>,
    readers: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Printed {
    text: Mutex<String>,
    changed: Notify,
}

impl Dialogue {
    /// Starts a command at a terminal. Standard output is no terminal, so that data stays apart.
    pub fn at_terminal(mut command: Command) -> Self {
        let keyboard = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keyboard).unwrap();
        unlockpt(&keyboard).unwrap();
        tcsetwinsize(&keyboard, SCREEN).unwrap();
        let name = ptsname(&keyboard, Vec::new()).unwrap();
        let terminal = || {
            let mut options = File::options();
            let opened = options.read(true).write(true).open(name.to_str().unwrap());
            opened.unwrap()
        };
        command
            .env("TERM", "xterm-256color")
            .stdin(Stdio::from(terminal()))
            .stderr(Stdio::from(terminal()))
            .stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // Its own ends of the terminal would keep that open.
        drop(command);
        let keyboard = File::from(keyboard);
        let (printed, data) = <(Arc<Printed>, Arc<Printed>)>::default();
        let readers = vec![
            keep(keyboard.try_clone().unwrap(), &[&printed]),
            keep(stdout(&mut child), &[&data]),
        ];
        Self {
            child,
            printed,
            read: 0,
            keyboard: Some(keyboard),
            data,
            readers,
        }
    }

    /// Starts a command of which standard output and standard error are awaited alike.
    pub fn piped(mut command: Command) -> Self {
        let mut child = command.spawn().unwrap();
        let (printed, data) = <(Arc<Printed>, Arc<Printed>)>::default();
        let stderr = child.stderr.take().unwrap().into_owned_fd().unwrap();
        let readers = vec![
            keep(stdout(&mut child), &[&printed, &data]),
            keep(File::from(stderr), &[&printed]),
        ];
        Self {
            child,
            printed,
            read: 0,
            keyboard: None,
            data,
            readers,
        }
    }

    /// Waits until this is printed, after what was awaited before; tells what came until then.
    pub async fn expect(&mut self, text: &str) -> String {
        let found = tokio::time::timeout(DEADLINE, self.find(text)).await;
        found.unwrap_or_else(|_| {
            panic!(
                "{text:?} was not printed after what was awaited before:\n{}",
                self.transcript()
            )
        })
    }

    /// Waits until all of these are printed, in whatever order, after what was awaited before.
    pub async fn expect_all(&mut self, texts: &[&str]) {
        let from = self.read;
        let mut furthest = from;
        for text in texts {
            self.read = from;
            self.expect(text).await;
            furthest = furthest.max(self.read);
        }
        self.read = furthest;
    }

    async fn find(&mut self, text: &str) -> String {
        loop {
            let changed = self.printed.changed.notified();
            {
                let printed = self.printed.text.lock().unwrap();
                let plain = plain(&printed);
                if let Some(at) = plain[self.read..].find(text) {
                    let end = self.read + at + text.len();
                    let came = plain[self.read..end].to_owned();
                    self.read = end;
                    return came;
                }
            }
            changed.await;
        }
    }

    /// Waits until the terminal does not show what is typed: before that, a question for a secret takes nothing.
    pub async fn hidden(&self) {
        let keyboard = self.keyboard.as_ref().expect("it has a terminal");
        let shows = || {
            let modes = tcgetattr(keyboard).unwrap().local_modes;
            modes.contains(LocalModes::ECHO)
        };
        let waiting = async {
            while shows() {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(DEADLINE, waiting).await;
        waited.unwrap_or_else(|_| panic!("it asks for no secret:\n{}", self.transcript()));
    }

    /// Types.
    pub fn send(&mut self, keys: &str) {
        let keyboard = self.keyboard.as_mut().expect("it has a terminal");
        keyboard.write_all(keys.as_bytes()).unwrap();
    }

    /// Sends a signal by its name.
    pub async fn signal(&self, name: &str) {
        let id = self.child.id().expect("it runs").to_string();
        let sent = Command::new("kill")
            .args(["-s", name, "--", &id])
            .status()
            .await;
        assert!(
            sent.is_ok_and(|status| status.success()),
            "cannot send SIG{name}"
        );
    }

    /// Waits for its end, and for all that it has printed.
    pub async fn end(&mut self) -> ExitStatus {
        let ended = tokio::time::timeout(DEADLINE, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("it does not end:\n{}", self.transcript()));
        let readers = std::mem::take(&mut self.readers);
        let read =
            tokio::task::spawn_blocking(|| readers.into_iter().try_for_each(JoinHandle::join));
        let read = tokio::time::timeout(DEADLINE, read).await;
        read.expect("it has closed its output").unwrap().unwrap();
        ended.unwrap()
    }

    /// The text of standard output.
    pub fn data(&self) -> String {
        self.data.text.lock().unwrap().clone()
    }

    /// All that was printed, without what moves the cursor and sets colours.
    pub fn transcript(&self) -> String {
        plain(&self.printed.text.lock().unwrap())
    }
}

fn stdout(child: &mut Child) -> File {
    File::from(child.stdout.take().unwrap().into_owned_fd().unwrap())
}

/// Reads to the end, in a thread of its own.
fn keep(mut stream: File, kept: &[&Arc<Printed>]) -> JoinHandle<()> {
    let kept: Vec<_> = kept.iter().map(|&printed| Arc::clone(printed)).collect();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let mut chunk = [0; 4096];
        // A terminal that the last process has left gives an error.
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            bytes.extend_from_slice(&chunk[..length]);
            let whole = match std::str::from_utf8(&bytes) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text: Vec<u8> = bytes.drain(..whole).collect();
            let text = String::from_utf8(text).unwrap();
            for printed in &kept {
                printed.text.lock().unwrap().push_str(&text);
                printed.changed.notify_waiters();
            }
        }
    })
}

/// The text without escape sequences.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        if char != '\u{1b}' {
            plain.push(char);
        } else if rest.next() == Some('[') {
            rest.find(char::is_ascii_alphabetic);
        }
    }
    plain
}
