//! The signals that end a node in order: SIGTERM, SIGINT, and SIGHUP, which the end of a terminal sends.
//!
//! SIGHUP that is ignored at the start stays so, as `nohup` wants it. It never hurries an end that has begun: shells and the
//! kernel may both send it.

use std::{fs, io};

use tokio::signal::unix::{Signal, SignalKind, signal};

/// The number of SIGHUP.
const HANG_UP: u32 = 1;

/// The signals, watched from now on.
pub(super) struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
    hang_up: Option<Signal>,
}

impl StopSignals {
    pub(super) fn watch() -> io::Result<Self> {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let hang_up = match ignores(&status, HANG_UP) {
            true => None,
            false => Some(signal(SignalKind::hangup())?),
        };
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up,
        })
    }

    /// Waits for one of them.
    pub(super) async fn first(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some(hang_up) => drop(hang_up.recv().await),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hang_up => {}
        }
    }

    /// Waits for one that somebody sends who does not want to wait.
    pub(super) async fn another(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

/// Whether a process ignores a signal, by the text of its `/proc/PID/status`.
fn ignores(status: &str, number: u32) -> bool {
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_some_and(|mask| mask & (1 << (number - 1)) != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_signals_are_found_in_the_mask() {
        let status = "Name:\theadwater\nSigBlk:\t0000000000000001\nSigIgn:\t0000000000001001\n";
        assert!(ignores(status, HANG_UP) && ignores(status, 13));
        assert!(!ignores(status, 15));
        assert!(!ignores("SigIgn:\t0000000000001000\n", HANG_UP));
        assert!(!ignores("", HANG_UP));
    }
}
