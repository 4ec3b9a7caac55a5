//! Ctrl-C and SIGTERM, counted: none is lost between one wait and the next.

use anyhow::{Context as _, Result};
use tokio::signal::unix::{Signal, SignalKind, signal};

pub(in crate::command) struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From now on they end nothing by themselves.
    pub(in crate::command) fn listen() -> Result<Self> {
        let listen = |kind| signal(kind).context("cannot wait for signals");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// Waits until the person, or the system, wants an end.
    pub(in crate::command) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
