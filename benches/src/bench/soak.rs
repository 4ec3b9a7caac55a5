//! A day of a node with a bit of everything, on a clock that runs fast: whether memory, store, descriptors and threads
//! grow. Nothing fails here; `cargo xtask soak` is for that.

mod life;
mod vitals;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;

use self::{life::Life, vitals::Vitals};
use crate::{
    asked::Sizes,
    node::Node,
    report::{Budget, Line, Report},
    statistics::median,
};

/// Of the node's clock.
const HOURS: usize = 24;
/// Kept events and records, caches and workers, which fill up at first, are full by then.
const FIRST_HOURS: std::ops::Range<usize> = 3..6;
const LAST_HOURS: std::ops::Range<usize> = 21..24;
/// An hour's figures are those in the middle of so many looks.
const LOOKS_PER_HOUR: usize = 6;
const FLAGS: [&str; 1] = ["--allow-private-network"];

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let hour = Duration::from_secs_f64(sizes.soak_minutes * 60.0 / HOURS as f64);
    let speed = 3600.0 / hour.as_secs_f64();
    eprintln!("  {HOURS} hours in {:.1} minutes", sizes.soak_minutes);
    let mut node = Node::start_fast(binary, speed, &FLAGS).await?;
    let mut life = Life::begin(&mut node, speed).await?;
    let begun = Instant::now();
    let mut hours = Vec::new();
    for number in 1..=HOURS {
        let mut looks = Vec::new();
        for look in 1..=LOOKS_PER_HOUR {
            let passed = (number - 1) as f64 + look as f64 / LOOKS_PER_HOUR as f64;
            tokio::time::sleep_until((begun + hour.mul_f64(passed)).into()).await;
            looks.push(Vitals::of(&node)?);
            life.go_on()?;
        }
        hours.push(Vitals::median(&looks));
        if number % FIRST_HOURS.start == 0 {
            eprintln!("    hour {number}: {}, {}", hours[number - 1], life.done());
        }
    }
    let minutes = sizes.soak_minutes;
    report.add(Line {
        what: format!("a day of a node in {minutes} minutes"),
        ours: life.done(),
        bare: String::new(),
        figure: HOURS as f64,
        shown: format!("{HOURS} hours"),
        budget: Budget::None,
    });
    drop(life);
    for (which, unit, of) in Vitals::EACH {
        let figures = |hours: &[Vitals]| median(&hours.iter().map(of).collect::<Vec<_>>());
        let [first, last] = [FIRST_HOURS, LAST_HOURS].map(|range| figures(&hours[range]));
        let ratio = last / first.max(1.0);
        report.add(Line {
            what: format!("{which} at the end of the day, to its first hours"),
            ours: format!("{last:.0} {unit}"),
            bare: format!("{first:.0} {unit} at first"),
            figure: ratio,
            shown: format!("× {ratio:.2}"),
            budget: Budget::AtMost(1.2, "× 1.2"),
        });
    }
    Ok(())
}
