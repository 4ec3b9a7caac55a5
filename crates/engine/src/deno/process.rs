//! Running Deno or the bundler to the end: their output, their exit, and the guarantee that no process which they
//! started outlives its waiting caller.
//!
//! Not responsible for commands, nor for the meaning of their output.

use std::{
    io,
    os::unix::process::ExitStatusExt as _,
    process::{ExitStatus, Stdio},
    time::Duration,
};

use rustix::{
    io::retry_on_intr,
    process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command},
};

use crate::confine::plan::Limits;

/// The limits of a confined process. Of the memory, Deno reserves half a GiB before it does anything.
pub(crate) const LIMITS: Limits = Limits {
    data_bytes: 3 << 30,
    file_bytes: 512 << 20,
    open_files: 4096,
    niceness: 5,
};
/// The bytes of either output that are kept; the graph of a large package is about a megabyte.
const OUTPUT_BYTES: u64 = 32 * 1024 * 1024;
/// Signals by which a process is ended from outside. It causes others itself, by its input: a stack overflow, or memory
/// beyond its limit.
const FROM_WITHOUT: &[Signal] = &[Signal::HUP, Signal::INT, Signal::KILL, Signal::TERM];

/// A process that came to its end.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// The signal by which the system ended the process, if that is how it ended.
    pub(crate) fn ended_by_system(&self) -> Option<i32> {
        let signal = self.status.signal()?;
        let mut known = FROM_WITHOUT.iter().map(|signal| signal.as_raw());
        known.any(|known| known == signal).then_some(signal)
    }
}

/// A process, which is ended with its whole group when it is dropped.
#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// Gives the command pipes for its output, and nothing to read.
pub(crate) fn piped(command: &mut Command) -> &mut Command {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
}

/// The end of a process that was started with [`piped`] output; nothing when it took longer than `timeout`.
/// One that leads a process group has ended with all of it, also when this future is dropped.
pub(crate) async fn end_of(child: Child, timeout: Duration) -> io::Result<Option<Ended>> {
    let mut process = Process(child);
    let ended = tokio::time::timeout(timeout, process.ended()).await;
    ended.ok().transpose()
}

impl Process {
    async fn ended(&mut self) -> io::Result<Ended> {
        let (stdout, stderr) = (self.0.stdout.take(), self.0.stderr.take());
        let (stdout, stderr) = tokio::join!(read(stdout), read(stderr));
        self.has_exited().await;
        self.kill_group();
        let status = self.0.wait().await?;
        Ok(Ended {
            status,
            stdout,
            stderr,
        })
    }

    /// Waits for its exit and leaves its status, and with it its id, where they are.
    async fn has_exited(&self) {
        let Some(pid) = self.pid() else { return };
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let exited = tokio::task::spawn_blocking(move || {
            retry_on_intr(|| waitid(WaitId::Pid(pid), options)).map(drop)
        });
        if let Ok(Err(error)) = exited.await {
            tracing::debug!(%error, "a process cannot be waited for");
        }
    }

    /// Ends what it started, and itself.
    fn kill_group(&self) {
        // It has not been waited for, so that its id is still its own. Without a group of its own there is none.
        if let Some(group) = self.pid()
            && let Err(error) = kill_process_group(group, Signal::KILL)
        {
            tracing::trace!(%error, "a process has no group");
        }
    }

    /// Its id, as long as it has not been waited for.
    fn pid(&self) -> Option<Pid> {
        self.0.id().and_then(|id| Pid::from_raw(id.cast_signed()))
    }
}

/// The beginning of an output, all of which is taken.
async fn read(pipe: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut pipe) = pipe {
        // A broken pipe ends the output like an end of file; the exit status tells the rest.
        let _ = (&mut pipe).take(OUTPUT_BYTES).read_to_end(&mut bytes).await;
        let _ = tokio::io::copy(&mut pipe, &mut tokio::io::sink()).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use std::{
        io::{BufRead as _, BufReader, PipeReader, Read as _},
        time::Duration,
    };

    use tokio::process::{Child, Command};

    use super::{end_of, piped};

    const LONG: Duration = Duration::from_secs(600);

    /// A shell that leads a group, and a pipe that every process of the group holds.
    fn shell(script: &str) -> (Child, BufReader<PipeReader>) {
        let (reader, writer) = std::io::pipe().unwrap();
        let mut command = Command::new("sh");
        piped(&mut command).args(["-c", script]).process_group(0);
        command.stderr(writer);
        (command.spawn().unwrap(), BufReader::new(reader))
    }

    /// Waits until nobody holds the pipe any more.
    async fn is_released(mut pipe: BufReader<PipeReader>) {
        let read = tokio::task::spawn_blocking(move || pipe.read_to_end(&mut Vec::new()));
        let read = tokio::time::timeout(LONG, read).await;
        read.expect("no process is left").unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_process_that_nobody_waits_for_ends_with_what_it_started() {
        let (child, mut pipe) = shell("sleep 1000 & echo started >&2; wait");
        let waiting = tokio::spawn(end_of(child, LONG));
        let pipe = tokio::task::spawn_blocking(move || {
            pipe.read_line(&mut String::new()).unwrap();
            pipe
        });
        let pipe = pipe.await.unwrap();
        waiting.abort();
        is_released(pipe).await;
    }

    #[tokio::test]
    async fn one_that_takes_too_long_does_so_too() {
        let (child, pipe) = shell("sleep 1000 & wait");
        assert!(end_of(child, Duration::ZERO).await.unwrap().is_none());
        is_released(pipe).await;
    }

    #[tokio::test]
    async fn one_that_ends_leaves_nobody_behind() {
        let (child, pipe) = shell("sleep 1000 >/dev/null & echo told; exit 3");
        let ended = end_of(child, LONG).await.unwrap().unwrap();
        assert_eq!((ended.status.code(), &*ended.stdout), (Some(3), "told\n"));
        is_released(pipe).await;
    }

    #[tokio::test]
    async fn the_systems_signals_are_told_from_those_of_a_program_itself() {
        for (signal, expected) in [("KILL", Some(9)), ("TERM", Some(15)), ("ABRT", None)] {
            let (child, _pipe) = shell(&format!("kill -{signal} $$"));
            let ended = end_of(child, LONG).await.unwrap().unwrap();
            assert_eq!(ended.ended_by_system(), expected);
        }
    }
}
