//! The time in which work goes on elsewhere after a node was lost: until the next tick of a source with a
//! timer, by the database's clock. A second of it is the timer's own.

use std::{sync::Arc, time::Duration};

use headwater_integration::{Database, Source};

use super::{fault::Fault, fleet::answered};

/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// The number of the longest times that are told.
const TOLD: usize = 5;

/// The losses so far.
pub(super) struct Losses {
    database: Arc<Database>,
    ticking: String,
    of_leaders: Vec<Took>,
    of_followers: Vec<Took>,
}

/// The milliseconds until work went on, and the reason.
type Took = (u64, Fault);

/// A node that is lost.
pub(super) struct Loss {
    at_ms: u64,
    ticking: String,
    fault: Fault,
    led: bool,
}

impl Losses {
    /// Measures with a source that ticks.
    pub(super) fn of(database: &Arc<Database>, ticking: &Source) -> Self {
        Self {
            database: Arc::clone(database),
            ticking: ticking.id.clone(),
            of_leaders: Vec::new(),
            of_followers: Vec::new(),
        }
    }

    /// A node is lost since this moment, which led or not.
    pub(super) async fn begin(&self, fault: Fault, led: bool) -> Loss {
        let now = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        Loss {
            at_ms: answered(&self.database, now).await.parse().unwrap(),
            ticking: self.ticking.clone(),
            fault,
            led,
        }
    }

    /// Waits until the work has gone on, and notes how long that took.
    pub(super) async fn end(&mut self, loss: Loss) {
        let on_ms = loss.until_over(&self.database).await;
        let losses = match loss.led {
            true => &mut self.of_leaders,
            false => &mut self.of_followers,
        };
        losses.push((on_ms - loss.at_ms, loss.fault));
    }

    /// Their numbers, the median and the longest. A node that follows is missed only by the sources that it ran.
    pub(super) fn shown(&self) -> String {
        let [leaders, followers] = [&self.of_leaders, &self.of_followers].map(|took| {
            let mut took = took.clone();
            took.sort_unstable();
            took
        });
        format!(
            "{} times the node that leads was lost, and a timer fired elsewhere after {} (median); the longest: {}\n\
             {} times another node was lost; the longest times until a timer fired: {}",
            leaders.len(),
            shown(leaders.get(leaders.len() / 2)),
            longest(&leaders),
            followers.len(),
            longest(&followers)
        )
    }
}

fn longest(losses: &[Took]) -> String {
    let longest = losses.iter().rev().take(TOLD).map(Some).map(shown);
    longest.collect::<Vec<_>>().join(", ")
}

fn shown(took: Option<&Took>) -> String {
    match took {
        Some((ms, fault)) => {
            let seconds = Duration::from_millis(*ms).as_secs_f64();
            format!("{seconds:.1} s ({fault})")
        }
        None => "no time".to_owned(),
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
