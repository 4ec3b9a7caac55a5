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
    schedule::{LATE_SECONDS, PERIOD},
    watch::{Seen, watch},
};
use crate::{
    asked::Sizes,
    polled::Polled,
    report::{Budget, Line, Report},
};

/// From the last deployment: every source has run once by then, with its code being loaded, and once more.
const WARM_UP: Duration = Duration::from_secs(125);
const LARGE: usize = 20_000;
const SMALL: usize = 300;

/// The share of two cores that a fleet may take, in percent.
type ProcessorBudget = Option<(f64, &'static str)>;

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let polled = Polled::start().await?;
    let (large, small) = (sizes.at_most(LARGE), sizes.at_most(SMALL));
    let peers = Peers::measure(&polled, large, small).await;
    peers.tell(report);
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

/// Lines of a fleet; those with a budget for the processors have all budgets.
fn tell(
    report: &mut Report,
    fleet: &Fleet,
    seen: &Seen,
    peers: &Peers,
    processor: ProcessorBudget,
) {
    let schedules = fleet.sources;
    let at_most = |most: f64, text: &'static str| match processor {
        Some(_) => Budget::AtMost(most, text),
        None => Budget::None,
    };
    let poll_ms = |seen: &Seen| format!("{:.2} ms", seen.poll_ms());
    let red = peers.node_red(schedules);
    let ratio = red.map(|red| seen.poll_ms() / red.poll_ms() * 100.0);
    report.add(Line {
        what: format!("{fleet}: CPU per poll"),
        ours: format!("{}, {} polls", poll_ms(seen), seen.polls),
        bare: peers.shown(schedules, poll_ms),
        figure: ratio.unwrap_or_default(),
        shown: match ratio {
            Some(ratio) => format!("{ratio:.0} % of Node-RED's"),
            None => poll_ms(seen),
        },
        budget: ratio.map_or(Budget::None, |_| at_most(100.0, "100 %")),
    });
    report.add(Line {
        what: format!("{fleet}: processors"),
        ours: format!("{:.1} s in {} s", seen.cpu_seconds, PERIOD.as_secs()),
        bare: peers.shown(schedules, |seen| format!("{:.0} %", seen.share())),
        figure: seen.share(),
        shown: format!("{:.0} % of two cores", seen.share()),
        budget: processor.map_or(Budget::None, |(most, text)| Budget::AtMost(most, text)),
    });
    report.add(Line {
        what: format!("{fleet}: memory"),
        ours: format!("{} processes", seen.processes),
        bare: peers.shown(schedules, |seen| format!("{:.0} MiB", seen.mib())),
        figure: seen.mib(),
        shown: format!("{:.0} MiB", seen.mib()),
        budget: at_most(2048.0, "2 GiB"),
    });
    report.add(Line {
        what: format!("{fleet}: ticks later than {LATE_SECONDS} s"),
        ours: seen.times(),
        bare: peers.shown(schedules, Seen::times),
        figure: seen.too_late() as f64,
        shown: format!("{} of {schedules}, {} missed", seen.too_late(), seen.missed),
        budget: at_most(0.0, "0"),
    });
}
