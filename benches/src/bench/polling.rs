//! Sources that poll an API once a minute: processor time, memory and punctuality, beside the same schedules in
//! Node-RED and n8n.

mod fleet;
mod peer;
mod schedule;
mod watch;

use std::{path::Path, time::Duration};

use anyhow::Result;

use self::{
    fleet::{Code, Fleet},
    peer::Peers,
    schedule::PERIOD,
    watch::{Seen, watch},
};
use crate::{
    asked::Sizes,
    polled::Polled,
    report::{Budget, Line, Report},
    statistics::quantile,
};

/// From the last deployment: every source has run once by then, with its code being loaded, and once more.
const WARM_UP: Duration = Duration::from_secs(125);
const LARGE: usize = 20_000;
const SMALL: usize = 300;
/// A tick may be this late, in seconds.
const LATE: f64 = 1.0;

/// The share of two cores that a fleet may take, in percent.
type ProcessorBudget = Option<(f64, &'static str)>;

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let polled = Polled::start().await?;
    let (large, small) = (sizes.at_most(LARGE), sizes.at_most(SMALL));
    let peers = Peers::measure(&polled, large, small).await;
    let fleet = |sources| Fleet {
        sources,
        owners: 1,
        components: 1,
        code: Code::Platform,
        isolation: None,
    };
    let fleets: [(Fleet, ProcessorBudget); 8] = [
        (fleet(large), Some((60.0, "60 %"))),
        (
            Fleet {
                owners: 100.min(large),
                components: 50.min(large),
                ..fleet(large)
            },
            None,
        ),
        (fleet(small), None),
        (
            Fleet {
                components: small,
                ..fleet(small)
            },
            Some((25.0, "25 %")),
        ),
        (isolated(small, "owner"), None),
        (isolated(small, "component"), None),
        (isolated(small, "source"), None),
        (
            Fleet {
                code: Code::OwnPackages,
                ..fleet(small)
            },
            None,
        ),
    ];
    for (fleet, budget) in fleets {
        eprintln!("  {fleet}");
        let running = fleet.start(binary, &polled).await?;
        tokio::time::sleep(WARM_UP).await;
        let seen = watch(running.node.process(), &polled, &running.due).await?;
        tell(report, &fleet, &seen, &peers, budget);
    }
    Ok(())
}

/// A fleet of ten components, whose sources share workers in that way.
fn isolated(sources: usize, isolation: &'static str) -> Fleet {
    Fleet {
        sources,
        owners: 1,
        components: 10.min(sources),
        code: Code::Platform,
        isolation: Some(isolation),
    }
}

fn tell(
    report: &mut Report,
    fleet: &Fleet,
    seen: &Seen,
    peers: &Peers,
    processor: ProcessorBudget,
) {
    let has_budget = processor.is_some();
    let schedules = fleet.sources;
    let poll_ms = |seen: &Seen| seen.cpu_seconds * 1e3 / seen.polls.max(1) as f64;
    let share = |seen: &Seen| seen.cpu_seconds / PERIOD.as_secs_f64() / 2.0 * 100.0;
    let mib = |seen: &Seen| seen.bytes as f64 / 1024.0 / 1024.0;
    let late = |seen: &Seen| {
        let late = seen.late.iter().filter(|late| **late > LATE).count();
        late + seen.missed
    };
    let times = |seen: &Seen| {
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(|part| quantile(&seen.late, part) * 1e3);
        format!("p50 {p50:.0} p99 {p99:.0} ms, {most:.0} at most")
    };
    let red = peers.node_red(schedules);
    let ratio = red.map(|red| poll_ms(seen) / poll_ms(red) * 100.0);
    report.add(Line {
        what: format!("{fleet}: CPU per poll"),
        ours: format!("{:.2} ms, {} polls", poll_ms(seen), seen.polls),
        bare: peers.shown(schedules, |seen| format!("{:.2} ms", poll_ms(seen))),
        figure: ratio.unwrap_or_default(),
        shown: ratio.map_or_else(
            || format!("{:.2} ms", poll_ms(seen)),
            |ratio| format!("{ratio:.0} % of Node-RED's"),
        ),
        budget: match (ratio, has_budget) {
            (Some(_), true) => Budget::AtMost(100.0, "100 %"),
            _ => Budget::None,
        },
    });
    report.add(Line {
        what: format!("{fleet}: processors"),
        ours: format!("{:.1} s in {} s", seen.cpu_seconds, PERIOD.as_secs()),
        bare: peers.shown(schedules, |seen| format!("{:.0} %", share(seen))),
        figure: share(seen),
        shown: format!("{:.0} % of two cores", share(seen)),
        budget: processor.map_or(Budget::None, |(most, text)| Budget::AtMost(most, text)),
    });
    report.add(Line {
        what: format!("{fleet}: memory"),
        ours: format!("{} processes", seen.processes),
        bare: peers.shown(schedules, |seen| format!("{:.0} MiB", mib(seen))),
        figure: mib(seen),
        shown: format!("{:.0} MiB", mib(seen)),
        budget: match has_budget {
            true => Budget::AtMost(2048.0, "2 GiB"),
            false => Budget::None,
        },
    });
    report.add(Line {
        what: format!("{fleet}: ticks later than {LATE} s"),
        ours: times(seen),
        bare: peers.shown(schedules, times),
        figure: late(seen) as f64,
        shown: format!(
            "{} of {schedules}, {} of them missed",
            late(seen),
            seen.missed
        ),
        budget: match has_budget {
            true => Budget::AtMost(0.0, "0"),
            false => Budget::None,
        },
    });
}
