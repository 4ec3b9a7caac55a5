//! Two servers under the same load in turns, so that what else the machine does meets both.

use std::time::Duration;

use anyhow::Result;

use crate::{
    load::{Answered, Load},
    process::Process,
    statistics::median,
};

/// Not measured: connections, caches, and the JavaScript compiler get warm.
const WARM_UP: Duration = Duration::from_secs(2);
const ROUND: Duration = Duration::from_millis(2500);
const ROUNDS: usize = 3;

/// One of the two.
pub(crate) struct Side<'a> {
    pub(crate) process: &'a Process,
    pub(crate) load: Load,
}

/// A side's figures: medians over the rounds.
#[derive(Default)]
pub(crate) struct Figures {
    pub(crate) per_second: f64,
    /// Microseconds.
    pub(crate) p50: f64,
    pub(crate) p99: f64,
    /// Processor time of the server and its children per request, microseconds.
    pub(crate) cpu: f64,
    rates: Vec<f64>,
}

/// Both sides of a comparison.
pub(crate) struct Compared {
    pub(crate) ours: Figures,
    pub(crate) bare: Figures,
}

impl Compared {
    /// Requests per second, ours to theirs: the median of the rounds' own ratios.
    pub(crate) fn ratio(&self) -> f64 {
        let ratios = self.ours.rates.iter().zip(&self.bare.rates).map(|(ours, bare)| ours / bare);
        median(&ratios.collect::<Vec<_>>())
    }
}

/// Loads them in turns. `settle` waits, after a round of ours, until the node has nothing left to
/// do; it is told how many requests the node has answered in all.
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
    Ok(Compared { ours: figures(&our_rounds), bare: figures(&bare_rounds) })
}

async fn measured(side: &Side<'_>) -> Result<(Answered, f64)> {
    let before = side.process.cpu_seconds();
    let answered = side.load.run(ROUND).await?;
    Ok((answered, side.process.cpu_seconds() - before))
}

fn figures(rounds: &[(Answered, f64)]) -> Figures {
    let of = |figure: &dyn Fn(&(Answered, f64)) -> f64| rounds.iter().map(figure).collect::<Vec<_>>();
    let rates = of(&|(answered, _)| answered.per_second());
    Figures {
        per_second: median(&rates),
        p50: median(&of(&|(answered, _)| median(&answered.latencies))),
        p99: median(&of(&|(answered, _)| crate::statistics::quantile(&answered.latencies, 0.99))),
        cpu: median(&of(&|(answered, cpu)| cpu * 1e6 / answered.latencies.len() as f64)),
        rates,
    }
}
