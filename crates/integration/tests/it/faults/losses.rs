//! The time in which work goes on elsewhere after the node that leads was lost: until the next tick of a source with a
//! timer, by the database's clock. A second of it is the timer's own.

use std::{sync::Arc, time::Duration};

use headwater_integration::{Database, Source};

use super::fleet::answered;

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);

/// The losses so far.
pub(super) struct Losses {
    database: Arc<Database>,
    ticking: String,
    took_ms: Vec<u64>,
}

/// A node that is lost.
pub(super) struct Loss {
    at_ms: u64,
    ticking: String,
}

impl Losses {
    /// Measures with a source that ticks.
    pub(super) fn of(database: &Arc<Database>, ticking: &Source) -> Self {
        Self {
            database: Arc::clone(database),
            ticking: ticking.id.clone(),
            took_ms: Vec::new(),
        }
    }

    /// The node that leads is lost since this moment.
    pub(super) async fn begin(&self) -> Loss {
        let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        Loss {
            at_ms: answered(&self.database, now).await.parse().unwrap(),
            ticking: self.ticking.clone(),
        }
    }

    /// Waits until the work has gone on, and notes how long that took.
    pub(super) async fn end(&mut self, loss: Loss) {
        let on_ms = loss.until_over(&self.database).await;
        self.took_ms.push(on_ms - loss.at_ms);
    }

    /// Their number, the median and the worst.
    pub(super) fn shown(&self) -> String {
        let mut took_ms = self.took_ms.clone();
        took_ms.sort_unstable();
        let seconds =
            |ms: Option<&u64>| ms.map_or(0.0, |ms| Duration::from_millis(*ms).as_secs_f64());
        format!(
            "{} times the node that leads was lost, and a timer fired elsewhere after {:.1} s (p50), {:.1} s (worst)",
            took_ms.len(),
            seconds(took_ms.get(took_ms.len() / 2)),
            seconds(took_ms.last())
        )
    }
}

impl Loss {
    /// Waits for the first tick since, and returns its time.
    pub(super) async fn until_over(&self, database: &Database) -> u64 {
        let tick = format!(
            "SELECT coalesce(min(ms)::text, '') FROM events WHERE emitter_id = '{}' AND ms > {}",
            self.ticking, self.at_ms
        );
        loop {
            if let Ok(ms) = answered(database, &tick).await.parse() {
                return ms;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}
