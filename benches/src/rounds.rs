//! Two servers under the same load in turns, so that what else the machine does meets both.

use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::{
    load::{Answered, Load},
    process::Process,
    statistics::{median, quantile},
};

/// Not measured: connections, caches, and the JavaScript compiler get warm.
const WARM_UP: Duration = Duration::from_secs(2);
const ROUND: Duration = Duration::from_secs(2);
const ROUNDS: usize = 5;

/// One of the two.
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

/// Both sides of a comparison.
pub(crate) struct Compared {
    pub(crate) ours: Figures,
    pub(crate) bare: Figures,
}

impl Compared {
    /// Requests per second, ours to theirs.
    pub(crate) fn ratio(&self) -> f64 {
        self.ours.per_second / self.bare.per_second
    }
}

/// Loads them in turns. `settle` waits, after a round of ours, until the node has nothing left to
/// do; it is told what came of that round.
pub(crate) async fn compare(
    ours: &Side<'_>,
    bare: &Side<'_>,
    mut settle: impl AsyncFnMut(&Answered) -> Result<()>,
) -> Result<Compared> {
    let (mut our_rounds, mut bare_rounds) = (Vec::new(), Vec::new());
    settle(&ours.load.run(WARM_UP).await?).await?;
    bare.load.run(WARM_UP).await?;
    for _ in 0..ROUNDS {
        let round = measured(ours).await?;
        settle(&round.0).await?;
        our_rounds.push(round);
        bare_rounds.push(measured(bare).await?);
    }
    Ok(Compared {
        ours: best(&our_rounds)?,
        bare: best(&bare_rounds)?,
    })
}

async fn measured(side: &Side<'_>) -> Result<(Answered, f64)> {
    let before = side.process.cpu_seconds();
    let answered = side.load.run(ROUND).await?;
    Ok((answered, side.process.cpu_seconds() - before))
}

fn best(rounds: &[(Answered, f64)]) -> Result<Figures> {
    let rate = |round: &&(Answered, f64)| round.0.per_second();
    let best = rounds
        .iter()
        .max_by(|one, other| rate(one).total_cmp(&rate(other)));
    let (answered, cpu) = best.context("no round")?;
    Ok(Figures {
        per_second: answered.per_second(),
        p50: median(&answered.latencies),
        p99: quantile(&answered.latencies, 0.99),
        cpu: cpu * 1e6 / answered.latencies.len() as f64,
    })
}
