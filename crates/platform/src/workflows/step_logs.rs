//! The lines that the steps of a run logged, in all their executions: a step that waits or is tried again keeps them.
//!
//! Not responsible for the limit of one execution, which its worker holds.

use std::collections::BTreeMap;

use headwater_engine::LogLevel;
use headwater_store::PlaceWrite;
use headwater_workflow::path::Path;
use serde::Deserialize;

use crate::log_line::LogLine;

/// Bytes of text that are kept of the executions of a step before its last one.
const EARLIER_BYTES_MAX: usize = 256 * 1024;
/// The least that a line counts: empty ones cost memory, too.
const LINE_BYTES: usize = 16;

/// Lines by place, of places whose lines may still change.
#[derive(Debug, Default)]
pub(super) struct StepLogs(BTreeMap<Path, Vec<LogLine>>);

/// The log that is kept with a place.
#[derive(Deserialize)]
struct Logged {
    #[serde(default)]
    logs: Vec<LogLine>,
}

/// The lines that were written with a place.
pub(crate) fn logged(written: &PlaceWrite) -> Vec<LogLine> {
    let logged: Option<Logged> = serde_json::from_str(written.body.get()).ok();
    logged.map(|logged| logged.logs).unwrap_or_default()
}

impl StepLogs {
    /// Takes in the lines of a place that goes on.
    pub(super) fn goes_on(&mut self, path: Path, written: &PlaceWrite) {
        let lines = logged(written);
        if !lines.is_empty() {
            self.0.insert(path, lines);
        }
    }

    /// Adds the lines of an execution. Of those before it, the newest stay, as far as there is room.
    pub(super) fn add(&mut self, path: &Path, mut lines: Vec<LogLine>) {
        if lines.is_empty() {
            return;
        }
        let kept = self.0.entry(path.clone()).or_default();
        let mut bytes = 0;
        let fits = |line: &&LogLine| {
            bytes += line.message.len().max(LINE_BYTES);
            bytes <= EARLIER_BYTES_MAX
        };
        let fitting = kept.iter().rev().take_while(fits).count();
        let dropped = kept.len() - fitting;
        kept.drain(..dropped);
        if let Some(first) = kept.first_mut().filter(|_| dropped > 0) {
            *first = LogLine {
                level: LogLevel::Warn,
                message: format!(
                    "earlier lines of this step go over the limit of {EARLIER_BYTES_MAX} bytes, and are not kept"
                ),
                ts: first.ts,
            };
        }
        kept.append(&mut lines);
    }

    /// The lines of a place.
    pub(super) fn of(&self, path: &Path) -> &[LogLine] {
        self.0.get(path).map_or(&[], Vec::as_slice)
    }

    /// Forgets the lines of a place that has ended.
    pub(super) fn forget(&mut self, path: &Path) {
        self.0.remove(path);
    }
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    fn line(message: &str) -> LogLine {
        LogLine {
            level: LogLevel::Info,
            message: message.to_owned(),
            ts: EpochMs(7),
        }
    }

    #[test]
    fn the_newest_lines_stay_and_the_last_execution_whole() {
        let (path, mut logs): (Path, _) = ("one".parse().unwrap(), StepLogs::default());
        let text = "x".repeat(1024);
        for round in 0..1000 {
            let lines = (0..3).map(|number| line(&format!("{round} {number} {text}")));
            logs.add(&path, lines.collect());
        }
        let kept = logs.of(&path);
        assert!(kept[0].message.contains("not kept"), "{:?}", kept[0]);
        let bytes: usize = kept.iter().map(|line| line.message.len()).sum();
        assert!(bytes <= EARLIER_BYTES_MAX + 3 * 1100, "{bytes}");
        assert!(kept.last().unwrap().message.starts_with("999 2 "));
        let told = kept.iter().filter(|line| line.message.contains("not kept"));
        assert_eq!(told.count(), 1);
        let huge: Vec<_> = (0..1000).map(|_| line(&text)).collect();
        logs.add(&path, huge);
        assert!(logs.of(&path).len() > 1000);
    }
}
