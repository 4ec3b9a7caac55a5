//! Servers under the same load in turns, so that what else the machine does meets all.

use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::{
    load::{Answered, Load},
    process::Process,
    statistics::{median, quantile},
};

/// Not measured: connections, caches, and the JavaScript compiler get warm.
pub(crate) const WARM_UP: Duration = Duration::from_secs(2);
pub(crate) const ROUND: Duration = Duration::from_secs(2);
pub(crate) const ROUNDS: usize = 5;

/// One of the servers.
pub(crate) struct Side<'a> {
    pub(crate) process: &'a Process,
    pub(crate) load: Load,
}

/// A side's figures in its best round: what else the machine does only ever takes away.
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    /// Microseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Processor time of the server and its children per request, microseconds.
    pub(crate) cpu: f64,
}

/// All sides of a comparison.
pub(crate) struct Compared {
    pub(crate) ours: Figures,
    pub(crate) bare: Figures,
    /// Those of another build of the node.
    pub(crate) other: Option<Figures>,
}

impl Compared {
    /// Requests per second, ours to the bare server's.
    pub(crate) fn ratio(&self) -> f64 {
        self.ours.per_second / self.bare.per_second
    }
}

/// Loads them in turns.
pub(crate) async fn compare(
    ours: &Side<'_>,
    bare: &Side<'_>,
    other: Option<&Side<'_>>,
) -> Result<Compared> {
    let sides: Vec<&Side<'_>> = [ours, bare].into_iter().chain(other).collect();
    let mut rounds: Vec<Vec<Figures>> = sides.iter().map(|_| Vec::new()).collect();
    for side in &sides {
        side.load.run(WARM_UP).await?;
    }
    for _ in 0..ROUNDS {
        for (side, rounds) in sides.iter().zip(&mut rounds) {
            rounds.push(side.round().await?);
        }
    }
    let mut figures = rounds.into_iter().map(best);
    let mut next = || figures.next().context("a side without rounds")?;
    Ok(Compared {
        ours: next()?,
        bare: next()?,
        other: figures.next().transpose()?,
    })
}

impl Side<'_> {
    /// One round of load.
    pub(crate) async fn round(&self) -> Result<Figures> {
        let before = self.process.cpu_seconds();
        let answered = self.load.run(ROUND).await?;
        let cpu = self.process.cpu_seconds() - before;
        Ok(Figures::of(&answered, answered.per_second(), cpu))
    }
}

impl Figures {
    /// Figures of a round; `cpu` in seconds.
    pub(crate) fn of(answered: &Answered, per_second: f64, cpu: f64) -> Self {
        Self {
            per_second,
            p50: median(&answered.latencies),
            p99: quantile(&answered.latencies, 0.99),
            cpu: cpu * 1e6 / answered.latencies.len() as f64,
        }
    }
}

/// The best of them.
pub(crate) fn best(rounds: Vec<Figures>) -> Result<Figures> {
    let rates = |one: &Figures, other: &Figures| one.per_second.total_cmp(&other.per_second);
    rounds.into_iter().max_by(rates).context("no round")
}
