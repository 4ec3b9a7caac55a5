//! The same schedules in other programs. One that cannot be installed or started is left out, with the reason.

use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use super::{
    schedule::PERIOD,
    watch::{Seen, watch},
};
use crate::{
    peers::{n8n::N8n, node_red::NodeRed},
    polled::Polled,
    process::Process,
    report::{Budget, Line, Report},
};

/// Loading many schedules takes a while.
const PATIENCE: Duration = Duration::from_secs(240);

/// A program with so many schedules.
struct Peer {
    name: String,
    schedules: usize,
    seen: Seen,
}

/// All that could be measured.
pub(super) struct Peers(Vec<Peer>);

impl Peers {
    /// Node-RED with both numbers of schedules, n8n with the small one.
    pub(super) async fn measure(polled: &Polled, large: usize, small: usize) -> Self {
        let mut peers = Vec::new();
        let numbers = [large, small];
        for schedules in numbers.into_iter().skip(usize::from(large == small)) {
            peers.extend(unless_missing(
                "Node-RED",
                node_red(polled, schedules).await,
            ));
            polled.take();
        }
        peers.extend(unless_missing("n8n", n8n(polled, small).await));
        polled.take();
        Self(peers)
    }

    /// A line of each.
    pub(super) fn tell(&self, report: &mut Report) {
        for Peer {
            name,
            schedules,
            seen,
        } in &self.0
        {
            report.add(Line {
                what: format!("{schedules} schedules in {name}"),
                ours: String::new(),
                bare: format!(
                    "{:.2} ms CPU per poll, {:.0} % of two cores, {:.0} MiB; {}",
                    seen.poll_ms(),
                    seen.share(),
                    seen.mib(),
                    seen.times()
                ),
                figure: seen.poll_ms(),
                shown: format!("{} late, {} missed", seen.too_late(), seen.missed),
                budget: Budget::None,
            });
        }
    }

    /// The figures of Node-RED with as many schedules.
    pub(super) fn node_red(&self, schedules: usize) -> Option<&Seen> {
        let mut as_many = self.0.iter().filter(|peer| peer.schedules == schedules);
        let red = as_many.find(|peer| peer.name.starts_with("Node-RED"));
        red.map(|peer| &peer.seen)
    }

    /// A figure of all with as many schedules.
    pub(super) fn shown(&self, schedules: usize, shown: impl Fn(&Seen) -> String) -> String {
        let as_many = self.0.iter().filter(|peer| peer.schedules == schedules);
        let cells = as_many.map(|peer| format!("{} {}", peer.name, shown(&peer.seen)));
        cells.collect::<Vec<_>>().join("; ")
    }
}

fn unless_missing(name: &str, peer: Result<Peer>) -> Option<Peer> {
    peer.inspect_err(|error| eprintln!("    {name} is left out: {error:#}"))
        .ok()
}

async fn node_red(polled: &Polled, schedules: usize) -> Result<Peer> {
    eprintln!("  {schedules} schedules in Node-RED");
    let node_red = NodeRed::start(schedules, PERIOD, polled).await?;
    Ok(Peer {
        name: format!("Node-RED {}", node_red.version),
        schedules,
        seen: seen(&node_red.process, polled, schedules).await?,
    })
}

async fn n8n(polled: &Polled, schedules: usize) -> Result<Peer> {
    eprintln!("  {schedules} workflows in n8n");
    let n8n = N8n::start(schedules, polled).await?;
    Ok(Peer {
        name: format!("n8n {}", n8n.version),
        schedules,
        seen: seen(&n8n.process, polled, schedules).await?,
    })
}

/// A period after each has polled; its ticks count from its first poll, because nobody says when it was due.
async fn seen(process: &Process, polled: &Polled, schedules: usize) -> Result<Seen> {
    let until = Instant::now() + PATIENCE;
    while polled.pollers() < schedules {
        if Instant::now() > until {
            bail!("{} of {schedules} schedules have polled", polled.pollers());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    tokio::time::sleep(PERIOD).await;
    watch(process, polled, &polled.first_polls()).await
}
