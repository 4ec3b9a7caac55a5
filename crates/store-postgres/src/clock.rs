//! The time of the database, which decides for all nodes: when timers fire, leases end, and a node counts as dead.

use std::time::Instant;

use headwater_model::time::EpochMs;
use headwater_store::StoreError;
use parking_lot::RwLock;

use crate::{
    connection::{Connection, failed},
    row::moment,
};

/// The database's time now, as SQL.
pub(crate) const NOW_MS: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The time of the database, as it was last asked, and the time that has passed since: the clock of the node's machine
/// may be wrong. It is behind by the way of the answer, and never ahead: nobody counts as dead too early.
#[derive(Debug)]
pub struct DatabaseClock(RwLock<Asked>);

#[derive(Debug, Clone, Copy)]
struct Asked {
    now_ms: EpochMs,
    at: Instant,
}

impl Default for DatabaseClock {
    fn default() -> Self {
        Self(RwLock::new(Asked {
            now_ms: EpochMs::default(),
            at: Instant::now(),
        }))
    }
}

impl DatabaseClock {
    /// Milliseconds since the epoch.
    pub fn now_ms(&self) -> EpochMs {
        let asked = *self.0.read();
        asked.now_ms + asked.at.elapsed()
    }

    /// Takes the database's answer, which came at that moment.
    pub(crate) fn set(&self, now_ms: EpochMs, at: Instant) {
        *self.0.write() = Asked { now_ms, at };
    }
}

pub(crate) async fn ask(connection: &Connection) -> Result<EpochMs, StoreError> {
    let now_ms = connection.value(&format!("SELECT {NOW_MS}"), &[]).await;
    now_ms
        .map(moment)
        .map_err(failed("asking for the database's time"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn time_goes_on_from_the_answer() {
        let clock = DatabaseClock::default();
        let answer_ms = EpochMs(1_700_000_000_000);
        clock.set(answer_ms, Instant::now());
        let first_ms = clock.now_ms();
        assert!(first_ms >= answer_ms && first_ms.since(answer_ms) < Duration::from_secs(60));
        assert!(clock.now_ms() >= first_ms);
    }
}
