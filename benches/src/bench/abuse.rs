//! The view of a neighbour of a tenant that abuses the node: times at its endpoint and of its deployments, with
//! nobody else there and under each kind of abuse, on a node of its own each. Nothing is asserted; the tests that
//! attack do that.

mod attack;

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::Result;

use self::attack::Attack;
use crate::{
    builds::Builds,
    node::{Api, Node, Source},
    report::{Budget, Line, Report},
    statistics::{median, quantile},
    wire::{self, Connection},
};

const QUIET: Duration = Duration::from_secs(5);
const ABUSED: Duration = Duration::from_secs(15);
/// A client that waits no longer; its request counts as having taken that long.
const PATIENCE: Duration = Duration::from_secs(10);
/// Between two requests of the neighbour's: it is a client, not a load.
const PAUSE: Duration = Duration::from_millis(10);
const LOOK: Duration = Duration::from_millis(100);

const ANSWERS: &str = r#"export default {
  name: "Answers", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run() { this.http.respond({ status: 200, body: "hello" }); },
};"#;

pub(super) async fn run(builds: &Builds, report: &mut Report) -> Result<()> {
    for attack in Attack::ALL {
        let seen = under(attack, &builds.ours).await?;
        let other = match &builds.other {
            Some(binary) => Some(under(attack, binary).await?),
            None => None,
        };
        let factor = seen.factor();
        report.add(Line {
            what: format!("a neighbour under abuse: {}", attack.name()),
            ours: seen.shown(),
            bare: other.as_ref().map(Both::shown).unwrap_or_default(),
            figure: factor,
            shown: match other {
                Some(other) => format!("p95 × {factor:.1}, × {:.1} before", other.factor()),
                None => format!("p95 × {factor:.1}"),
            },
            budget: Budget::None,
        });
    }
    Ok(())
}

/// The neighbour's times, and the node's costs.
struct Seen {
    /// Milliseconds of each request.
    requests: Vec<f64>,
    unanswered: usize,
    /// Milliseconds of each deployment of new code.
    deployments: Vec<f64>,
    /// The most the node itself took, in bytes.
    memory: u64,
    /// By how much its store grew, in bytes.
    stored: u64,
}

/// Before and during the abuse.
struct Both {
    quiet: Seen,
    abused: Seen,
}

impl Both {
    /// How much slower the slow requests are.
    fn factor(&self) -> f64 {
        quantile(&self.abused.requests, 0.95) / quantile(&self.quiet.requests, 0.95)
    }

    fn shown(&self) -> String {
        let (quiet, abused) = (&self.quiet, &self.abused);
        let mib = |bytes: u64| bytes / 1024 / 1024;
        let unanswered = match abused.unanswered {
            0 => String::new(),
            some => format!(", {some} of {} unanswered", abused.requests.len()),
        };
        format!(
            "p50 {:.1} → {:.1}, p95 {:.1} → {:.1} ms{unanswered}; deployed in {:.0} → {:.0} ms; {} → {} MiB, {} MiB written",
            median(&quiet.requests),
            median(&abused.requests),
            quantile(&quiet.requests, 0.95),
            quantile(&abused.requests, 0.95),
            median(&quiet.deployments),
            median(&abused.deployments),
            mib(quiet.memory),
            mib(abused.memory),
            mib(abused.stored)
        )
    }
}

async fn under(attack: Attack, binary: &Path) -> Result<Both> {
    let mut node = Node::start_limited(binary, attack.descriptors(), attack.flags()).await?;
    let mut neighbour = node.user("neighbour").await?;
    let mut abuser = node.user("abuser").await?;
    let component = neighbour.save(ANSWERS).await?;
    let source = neighbour.deploy(&component).await?;
    // Warm: its worker, and the bundler.
    see(&node, &mut neighbour, &source, QUIET / 5).await?;
    let quiet = see(&node, &mut neighbour, &source, QUIET).await?;
    let tasks = attack.begin(&node, &mut abuser).await?;
    let abused = see(&node, &mut neighbour, &source, ABUSED).await?;
    drop(tasks);
    Ok(Both { quiet, abused })
}

/// Requests one after the other, each on a connection of its own, and deployments beside them.
async fn see(node: &Node, api: &mut Api, source: &Source, during: Duration) -> Result<Seen> {
    let until = Instant::now() + during;
    let stored = node.stored_bytes();
    let requests = async {
        let (mut times, mut unanswered) = (Vec::new(), 0);
        while Instant::now() < until {
            let begun = Instant::now();
            match tokio::time::timeout(PATIENCE, request(node, source)).await {
                Ok(Ok(200)) => times.push(milliseconds(begun)),
                _ => {
                    times.push(PATIENCE.as_secs_f64() * 1e3);
                    unanswered += 1;
                }
            }
            tokio::time::sleep(PAUSE).await;
        }
        (times, unanswered)
    };
    let deployments = async {
        let mut times = Vec::new();
        while Instant::now() < until {
            let begun = Instant::now();
            let code = format!("{ANSWERS} // {:?}", begun);
            let deployed = async {
                let component = api.save(&code).await?;
                api.deploy(&component).await
            };
            // A failure counts as the longest time.
            let deployed = tokio::time::timeout(PATIENCE * 6, deployed).await;
            times.push(match deployed {
                Ok(Ok(_)) => milliseconds(begun),
                _ => PATIENCE.as_secs_f64() * 6e3,
            });
        }
        times
    };
    let memory = async {
        let mut most = 0;
        while Instant::now() < until {
            most = node.process().resident_bytes().max(most);
            tokio::time::sleep(LOOK).await;
        }
        most
    };
    let ((requests, unanswered), deployments, memory) = tokio::join!(requests, deployments, memory);
    Ok(Seen {
        requests,
        unanswered,
        deployments,
        memory,
        stored: node.stored_bytes().saturating_sub(stored),
    })
}

async fn request(node: &Node, source: &Source) -> Result<u16> {
    let mut connection = Connection::open(node.address()).await?;
    let request = wire::request("GET", node.address(), &source.path, "", "");
    Ok(connection.exchange(&request).await?.0)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}
