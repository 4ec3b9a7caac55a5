//! The speed that users get: requests accepted, run and emitted per second, and their latency at a client.
//! A request counts once its event is in the log. Beside it the same server that does nothing, and, where asked
//! for, the node of another build.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    bare,
    builds::Builds,
    load::Load,
    node::{Api, Node, Source},
    report::{Budget, Line, Report},
    rounds::{self, Compared, Figures, ROUND, ROUNDS, Side, WARM_UP},
    statistics::median,
    wire,
};

/// Each run emits one event; the newest says how many runs there have been.
const COUNTS: &str = r#"let n = 0;
export default {
  name: "Counts", version: "0.0.1",
  props: { http: "$.interface.http" },
  run(event) { this.$emit({ n: ++n, body: event.body }, { summary: "counted" }); },
};"#;
const SIZES: [Size; 3] = [Size(32, 24), Size(256, 24), Size(32, 20_000)];

/// Connections, and bytes of each request's body.
#[derive(Clone, Copy)]
struct Size(usize, usize);

impl Size {
    fn budget(self) -> Budget {
        match self {
            Self(32, 24) => Budget::AtLeast(25_000.0, "25,000/s"),
            Self(256, 24) => Budget::AtLeast(35_000.0, "35,000/s"),
            Self(..) => Budget::None,
        }
    }
}

pub(super) async fn run(builds: &Builds, report: &mut Report) -> Result<()> {
    let (bare, bare_address) = bare::start().await?;
    for size in SIZES {
        let mut ours = Counting::start(&builds.ours, size).await?;
        let mut other = match &builds.other {
            Some(binary) => Some(Counting::start(binary, size).await?),
            None => None,
        };
        let bare = Side {
            process: &bare,
            load: load(bare_address, &ours.source.path, size),
        };
        let mut bare_rounds = Vec::new();
        ours.round(WARM_UP).await?;
        if let Some(other) = &mut other {
            other.round(WARM_UP).await?;
        }
        for _ in 0..ROUNDS {
            let round = ours.round(ROUND).await?;
            ours.rounds.push(round);
            if let Some(other) = &mut other {
                let round = other.round(ROUND).await?;
                other.rounds.push(round);
            }
            bare_rounds.push(bare.round().await?);
        }
        tell(report, size, ours, other, rounds::best(bare_rounds)?)?;
    }
    Ok(())
}

fn tell(
    report: &mut Report,
    size: Size,
    ours: Counting,
    other: Option<Counting>,
    bare: Figures,
) -> Result<()> {
    let (ours, seen) = ours.figures()?;
    let (other, other_seen) = match other {
        Some(other) => {
            let (figures, middle) = other.figures()?;
            (Some(figures), Some(middle))
        }
        None => (None, None),
    };
    let Size(connections, bytes) = size;
    let which = format!("{connections} connections, bodies of {bytes} bytes");
    let what = format!("accepted, run and emitted, {which}");
    let compared = Compared { ours, bare, other };
    report.compare(&what, "same server doing nothing", &compared, Budget::None);
    report.add(Line {
        what: format!("rounds of it in the middle, {which}"),
        ours: seen.shown(),
        bare: other_seen.as_ref().map(Middle::shown).unwrap_or_default(),
        figure: seen.median,
        shown: match other_seen {
            Some(other) => format!("{:.0} %", seen.median / other.median * 100.0),
            None => format!("{:.0}/s", seen.median),
        },
        budget: size.budget(),
    });
    Ok(())
}

/// A node that counts its runs, under load.
struct Counting {
    node: Node,
    source: Source,
    watcher: Api,
    load: Load,
    /// Requests sent so far.
    total: usize,
    /// Requests accepted per second, and how long the node went on after the load, of each round.
    accepted: Vec<f64>,
    behind_ms: Vec<f64>,
    rounds: Vec<Figures>,
}

/// The round in the middle.
struct Middle {
    median: f64,
    accepted: f64,
    behind_ms: f64,
}

impl Middle {
    fn shown(&self) -> String {
        format!(
            "{:.0}/s; {:.0}/s accepted, {:.0} ms behind after {} s",
            self.median,
            self.accepted,
            self.behind_ms,
            ROUND.as_secs()
        )
    }
}

impl Counting {
    async fn start(binary: &Path, size: Size) -> Result<Self> {
        let mut node = Node::start(binary, &[]).await?;
        let component = node.api.save(COUNTS).await?;
        let source = node.api.deploy(&component).await?;
        Ok(Self {
            watcher: node.connect().await?,
            load: load(node.address(), &source.path, size),
            node,
            source,
            total: 0,
            accepted: Vec::new(),
            behind_ms: Vec::new(),
            rounds: Vec::new(),
        })
    }

    /// Loads it, and waits until all that was accepted has been emitted.
    async fn round(&mut self, duration: Duration) -> Result<Figures> {
        let process = self.node.process();
        let before = process.cpu_seconds();
        let answered = self.load.run(duration).await?;
        self.total += answered.latencies.len();
        let begun = Instant::now();
        self.watcher
            .wait_for_count(&self.source, self.total)
            .await?;
        let behind = begun.elapsed().as_secs_f64();
        self.accepted.push(answered.per_second());
        self.behind_ms.push(behind * 1e3);
        let per_second = answered.latencies.len() as f64 / (answered.seconds + behind);
        let cpu = process.cpu_seconds() - before;
        Ok(Figures::of(&answered, per_second, cpu))
    }

    fn figures(self) -> Result<(Figures, Middle)> {
        let rates: Vec<f64> = self.rounds.iter().map(|round| round.per_second).collect();
        let middle = Middle {
            median: median(&rates),
            accepted: median(&self.accepted),
            behind_ms: median(&self.behind_ms),
        };
        Ok((rounds::best(self.rounds)?, middle))
    }
}

fn load(address: SocketAddr, path: &str, Size(connections, bytes): Size) -> Load {
    let beginning = r#"{"name":"world","n":"#;
    let digits = "4".repeat(bytes - beginning.len() - 3);
    let body = format!(r#"{beginning}"{digits}"}}"#);
    Load {
        address,
        request: wire::request("POST", address, path, "", &body),
        connections,
    }
}
