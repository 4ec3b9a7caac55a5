//! The process of a worker: its pipes and its end.
//!
//! Not responsible for the contents of the pipes (`worker.rs`), nor for starting it (`sandbox.rs`).

use std::{
    process::ExitStatus,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use parking_lot::Mutex;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, ChildStderr, ChildStdin, ChildStdout},
    sync::Notify,
};
use tokio_util::sync::CancellationToken;

use crate::api::EngineError;

/// The part of standard error that is kept.
const STDERR_TAIL_BYTES: usize = 4 * 1024;
/// A buffer for writing that has grown beyond this is not kept.
const KEPT_OUTBOX_BYTES: usize = 256 * 1024;
/// The number of unwritten bytes beyond which the process's requests wait.
const ROOM_BYTES: usize = 4 * 1024 * 1024;
/// The time that a process may take to end once it has closed its output.
const EXIT_GRACE: Duration = Duration::from_secs(2);

/// The ends of a process's pipes.
pub(crate) struct Pipes {
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
    pub(crate) stderr: ChildStderr,
}

impl Pipes {
    /// # Errors
    /// The process was started without pipes.
    pub(crate) fn take(child: &mut Child) -> Result<Self, EngineError> {
        match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok(Self {
                stdin,
                stdout,
                stderr,
            }),
            _ => Err(EngineError::Spawn("a worker without pipes".into())),
        }
    }
}

/// The unwritten bytes for a worker. Frames are appended in place, and written in batches.
#[derive(Default)]
pub(super) struct Outbox {
    waiting: Mutex<Vec<u8>>,
    /// Whether a batch is being written. Changes only while `waiting` is locked.
    is_writing: AtomicBool,
    changed: Notify,
    taken: Notify,
}

impl Outbox {
    /// Appends to the unwritten bytes with `append`.
    pub(super) fn add<T>(&self, append: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        let result = append(&mut self.waiting.lock());
        self.changed.notify_one();
        result
    }

    /// Ends when little is left to be written, or the process is gone.
    pub(super) async fn room(self: Arc<Self>, gone: CancellationToken) {
        self.until(gone, |waiting, _| waiting < ROOM_BYTES).await;
    }

    /// Ends when nothing is left to be written, or the process is gone.
    pub(super) async fn written(self: Arc<Self>, gone: CancellationToken) {
        self.until(gone, |waiting, is_writing| waiting == 0 && !is_writing)
            .await;
    }

    /// Ends when so many waiting bytes, and whether others are being written, are few enough.
    async fn until(&self, gone: CancellationToken, is_little: impl Fn(usize, bool) -> bool) {
        let there_is = async {
            loop {
                let taken = self.taken.notified();
                let is_done = {
                    let waiting = self.waiting.lock();
                    is_little(waiting.len(), self.is_writing.load(Ordering::Relaxed))
                };
                if is_done {
                    return;
                }
                taken.await;
            }
        };
        tokio::select! {
            () = there_is => {}
            () = gone.cancelled() => {}
        }
    }

    /// Writes appended bytes until the process is gone.
    pub(super) async fn write_to(self: Arc<Self>, mut stdin: ChildStdin, gone: CancellationToken) {
        let mut writing = Vec::new();
        loop {
            {
                let mut waiting = self.waiting.lock();
                std::mem::swap(&mut *waiting, &mut writing);
                self.is_writing
                    .store(!writing.is_empty(), Ordering::Relaxed);
            }
            self.taken.notify_waiters();
            if writing.is_empty() {
                tokio::select! {
                    () = self.changed.notified() => continue,
                    () = gone.cancelled() => return,
                }
            }
            let written = tokio::select! {
                written = stdin.write_all(&writing) => written,
                () = gone.cancelled() => return,
            };
            // The reader of the output learns what happened to the process.
            if written.is_err() {
                return;
            }
            writing.clear();
            writing.shrink_to(KEPT_OUTBOX_BYTES);
        }
    }
}

/// Whether this child process is alive. Leaves its status to [`reap`].
pub(super) fn is_alive(pid: u32) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Pid::from_raw(pid.cast_signed())
        .is_some_and(|pid| matches!(waitid(WaitId::Pid(pid), options), Ok(None)))
}

/// Waits for the process, ending it with its whole group as soon as `kill` says so.
pub(super) async fn reap(mut child: Child, kill: CancellationToken) -> Option<ExitStatus> {
    let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
    let exited = tokio::select! {
        status = child.wait() => Some(status),
        () = kill.cancelled() => None,
    };
    let status = match exited {
        Some(status) => status,
        None => {
            // The process has not been waited for, so that its id is still its own.
            if let Some(group) = group
                && let Err(error) = kill_process_group(group, Signal::KILL)
            {
                tracing::debug!(%error, "a worker's process group is gone already");
            }
            child.wait().await
        }
    };
    status
        .inspect_err(|error| tracing::warn!(%error, "a worker's process cannot be waited for"))
        .ok()
}

/// Waits for the end of a process that has closed its output. One that continues is ended, after a call of `is_ended`.
pub(super) async fn exit_of(
    mut reaper: tokio::task::JoinHandle<Option<ExitStatus>>,
    kill: &CancellationToken,
    is_ended: impl FnOnce(),
) -> Option<ExitStatus> {
    let exited = tokio::time::timeout(EXIT_GRACE, &mut reaper).await;
    let exited = match exited {
        Ok(exited) => exited,
        Err(_) => {
            is_ended();
            kill.cancel();
            reaper.await
        }
    };
    exited.unwrap_or_default()
}

/// The end of `stderr`; all of it also goes to the node's own log, at its lowest level.
pub(crate) async fn tail(stderr: impl AsyncRead + Unpin) -> String {
    tail_with(stderr, |_| {}).await
}

/// The end of `stderr`; all of it is also passed to `on_output` as it arrives.
pub(super) async fn tail_with(
    mut stderr: impl AsyncRead + Unpin,
    mut on_output: impl FnMut(&[u8]),
) -> String {
    let mut kept: Vec<u8> = Vec::new();
    let mut chunk = vec![0; STDERR_TAIL_BYTES];
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        let output = &chunk[..read];
        tracing::debug!(stderr = %String::from_utf8_lossy(output).trim_end(), "a worker says");
        on_output(output);
        kept.extend_from_slice(output);
        if kept.len() > 2 * STDERR_TAIL_BYTES {
            kept.drain(..kept.len() - STDERR_TAIL_BYTES);
        }
    }
    let kept = &kept[kept.len().saturating_sub(STDERR_TAIL_BYTES)..];
    String::from_utf8_lossy(kept).into_owned()
}

/// Memory that the process shares with no other, in bytes; 0 when it is gone or this is not Linux.
pub(super) fn private_memory(pid: u32) -> u64 {
    let Ok(pages) = std::fs::read_to_string(format!("/proc/{pid}/statm")) else {
        return 0;
    };
    let mut pages = pages
        .split_ascii_whitespace()
        .skip(1)
        .map_while(|count| count.parse::<u64>().ok());
    let (resident, shared) = (pages.next().unwrap_or(0), pages.next().unwrap_or(0));
    resident.saturating_sub(shared) * rustix::param::page_size() as u64
}

/// Processor time that the process has used; `None` when it is gone or this is not Linux.
pub(crate) fn processor_time(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name, in parentheses, may hold anything.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let mut ticks = || fields.next()?.parse::<u64>().ok();
    let ticks = ticks()? + ticks()?;
    Some(Duration::from_millis(
        ticks * 1000 / rustix::param::clock_ticks_per_second(),
    ))
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use futures::FutureExt as _;
    use tokio::process::Command;

    use super::*;

    #[tokio::test]
    async fn there_is_room_once_the_process_has_taken_what_there_was() {
        let (outbox, gone) = (Arc::<Outbox>::default(), CancellationToken::new());
        let room = || Arc::clone(&outbox).room(gone.clone());
        assert_eq!(room().now_or_never(), Some(()));
        outbox.add(|waiting| waiting.resize(ROOM_BYTES, b'x'));
        assert_eq!(room().now_or_never(), None, "the process has taken nothing");

        let mut reader = Command::new("cat");
        reader.stdin(Stdio::piped()).stdout(Stdio::null());
        let mut reader = reader.spawn().unwrap();
        let stdin = reader.stdin.take().unwrap();
        let waiting = tokio::spawn(room());
        let writing = tokio::spawn(Arc::clone(&outbox).write_to(stdin, gone.clone()));
        waiting.await.unwrap();

        gone.cancel();
        writing.await.unwrap();
        outbox.add(|waiting| waiting.resize(ROOM_BYTES, b'x'));
        room().await;
        assert!(reader.wait().await.unwrap().success());
    }
}
