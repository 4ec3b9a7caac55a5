//! The life of a worker from its greeting to its end: its output, its deadlines, its cleanup.

use std::sync::Arc;

use tokio::{
    process::{Child, ChildStderr, ChildStdout},
    sync::oneshot,
    time::Instant,
};

use super::{
    Worker,
    ending::{Ending, Exit, is_v8_fatal},
    frames::{FrameReader, Piece},
    process,
    protocol::{self, Kind, WorkerFrame, run_of_beginning},
};
use crate::api::LogLevel;

/// A worker's output on its way in.
pub(super) struct Listening {
    pub(super) frames: FrameReader,
    pub(super) stdout: ChildStdout,
    pub(super) ready: Option<oneshot::Sender<()>>,
}

impl Worker {
    /// The worker's life: reads until the process closes its output, and cleans up after it.
    pub(super) async fn live(
        self: Arc<Self>,
        child: Child,
        mut listening: Listening,
        stderr: tokio::task::JoinHandle<String>,
    ) {
        let reaper = tokio::spawn(process::reap(child, self.kill.clone()));
        self.listen(&mut listening).await;
        drop(listening);
        let silent = || Ending::Protocol("it closed its output and went on".into());
        let is_ended = || self.runs.lock().end(silent());
        let status = process::exit_of(reaper, &self.kill, is_ended).await;
        let exit = Exit {
            status,
            stderr: stderr.await.unwrap_or_default(),
        };
        tracing::debug!(pid = self.pid, status = exit.describe(), "a worker is gone");
        self.runs.lock().process_gone(&exit);
        let _ = self.exit.set(exit);
        self.gone.cancel();
        let worker = Arc::clone(&self);
        // A runtime that is shutting down leaves the folder to the next start.
        let _ = tokio::task::spawn_blocking(move || worker.folder.remove()).await;
    }

    /// Logs output that reaches standard error past the runtime, and returns the end of it. A run that ends
    /// meanwhile may miss some: it is not ordered with the frames.
    pub(super) async fn listen_to_stderr(self: Arc<Self>, stderr: ChildStderr) -> String {
        let mut is_dying = false;
        process::tail_with(stderr, |output| {
            is_dying = is_dying || is_v8_fatal(&String::from_utf8_lossy(output));
            if !is_dying {
                self.runs.lock().noise(LogLevel::Error, output);
            }
        })
        .await
    }

    async fn listen(&self, listening: &mut Listening) {
        while let Ok(true) = listening.frames.fill(&mut listening.stdout).await {
            if !self.on_output(listening) {
                self.kill.cancel();
                return;
            }
        }
    }

    /// Handles the output read so far. False: the rest cannot be parsed.
    fn on_output(&self, listening: &mut Listening) -> bool {
        let now = Instant::now();
        let mut runs = self.runs.lock();
        while let Some(piece) = listening.frames.next() {
            match piece {
                Piece::Noise(bytes) => runs.noise(LogLevel::Info, bytes),
                Piece::TooLarge(beginning) => {
                    runs.too_large(run_of_beginning(beginning));
                    return false;
                }
                Piece::Frame(body) => match WorkerFrame::parse(body) {
                    Ok(frame) if frame.kind == Kind::Ready => {
                        if let Some(ready) = listening
                            .ready
                            .take()
                            .filter(|_| frame.version == Some(protocol::VERSION))
                        {
                            // The caller that started the worker may have given up.
                            let _ = ready.send(());
                        }
                    }
                    Ok(frame) => runs.frame(frame, body.len(), now),
                    Err(error) => {
                        runs.end(Ending::Protocol(format!(
                            "it sent a frame that is none ({error})"
                        )));
                        return false;
                    }
                },
            }
        }
        if runs.ending().is_some() {
            self.kill.cancel();
        }
        true
    }

    /// Ends the worker at the first deadline that passes.
    pub(super) async fn watch_deadlines(self: Arc<Self>) {
        loop {
            let next = self.runs.lock().look_at_deadlines(Instant::now());
            if !self.is_open() {
                self.kill.cancel();
                return;
            }
            let wait = async {
                match next {
                    Some(deadline) => tokio::time::sleep_until(deadline).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = wait => {}
                () = self.deadlines_changed.notified() => {}
                () = self.gone.cancelled() => return,
            }
        }
    }
}
