//! One node on PostgreSQL beside one with the embedded store, and several beside that one, under the same load in turns. All
//! nodes are on this machine: what several of them add shows only where it has processors for all, or where each is started
//! with a small part of one (`--node`).

use std::{
    net::{SocketAddr, TcpListener},
    path::Path,
    process::Command,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use futures::future::try_join_all;
use serde_json::{Value, json};

use super::{deliver, workflows};
use crate::{
    asked::Sizes,
    load::Load,
    node::{Api, Node},
    receiver::Receiver,
    report::{Budget, Line, Report},
    rounds::{ROUND, ROUNDS, WARM_UP},
    statistics::median,
    wire,
};

const EMITS: &str = r#"export default {
  name: "Emits", version: "0.0.1",
  props: { http: "$.interface.http" },
  run(event) { this.$emit({ body: event.body }, { summary: "emitted" }); },
};"#;
const ANSWERS: &str = r#"export default {
  name: "Answers", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) { this.http.respond({ status: 200, body: { n: event.body.n + 1 } }); },
};"#;
/// Computes for a few milliseconds: of a run, most is the component's.
const COMPUTES: &str = r#"export default {
  name: "Computes", version: "0.0.1",
  props: { http: { type: "$.interface.http", customResponse: true } },
  run(event) {
    let n = event.body.n;
    for (let i = 0; i < 500_000; i++) n = (n * 31 + i) | 0;
    this.http.respond({ status: 200, body: { n } });
  },
};"#;
const EMITS_MANY: &str = r#"export default {
  name: "Emits many", version: "0.0.1",
  props: { http: "$.interface.http" },
  run() { for (let n = 0; n < 1000; n++) this.$emit({ n, title: "An item of the usual kind", tags: ["a", "b"] }); },
};"#;
/// The events of one of its runs.
const MANY: usize = 1000;
const STEPS: usize = 3;
const BODY: &str = r#"{"name":"world","n":41}"#;
/// The receiver is on this machine.
const FLAG: &str = "--allow-private-network";
/// Sources of each kind and workflows: so many that a node without any is rare.
const SOURCES: usize = 12;
/// Sources whose events are delivered, each to a webhook of its own.
const DELIVERING: usize = 4;
const CONNECTIONS: usize = 36;
/// As many clients as a company has.
const MANY_CONNECTIONS: usize = 252;
/// The time in which the nodes of a cluster find each other.
const JOINED_WITHIN: Duration = Duration::from_secs(60);

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let url = sizes.database_url.as_deref();
    let url = url.context(
        "`nodes` needs --database-url with a database of PostgreSQL whose user may create others",
    )?;
    let databases: Vec<_> = (1..=3)
        .map(|nodes| Database::create(url, nodes))
        .collect::<Result<_>>()?;
    let mut installations = vec![Installation::alone(binary, "SQLite", &[]).await?];
    let one = ["--database-url", &databases[0].url];
    installations.push(Installation::alone(binary, "one node on PostgreSQL", &one).await?);
    for (nodes, database) in (2..).zip(&databases[1..]) {
        installations.push(Installation::cluster(binary, nodes, &database.url).await?);
    }
    for kind in Kind::ALL {
        let rates = in_turns(&mut installations, kind).await?;
        let rates: Vec<f64> = rates.iter().map(|rates| median(rates)).collect();
        for (number, installation) in installations.iter().enumerate().skip(1) {
            // One node beside SQLite, several beside the one.
            let beside = number.min(2) - 1;
            let (ours, bare) = (rates[number], rates[beside]);
            report.add(Line {
                what: format!("{}, {}", kind.what(), installation.name),
                ours: format!("{ours:.0}/s"),
                bare: format!("{} {bare:.0}/s", installations[beside].name),
                figure: ours / bare * 100.0,
                shown: format!("{:.0} %", ours / bare * 100.0),
                budget: Budget::None,
            });
        }
    }
    Ok(())
}

/// Work per second of each installation, in each of its rounds.
async fn in_turns(installations: &mut [Installation], kind: Kind) -> Result<Vec<Vec<f64>>> {
    for installation in installations.iter_mut() {
        installation.round(kind, WARM_UP).await?;
    }
    let mut rates = vec![Vec::new(); installations.len()];
    for _ in 0..ROUNDS {
        for (installation, rates) in installations.iter_mut().zip(&mut rates) {
            rates.push(installation.round(kind, ROUND).await?);
        }
    }
    Ok(rates)
}

/// The work of a round.
#[derive(Clone, Copy)]
enum Kind {
    Ingest,
    /// The same of many clients.
    IngestOfMany,
    Answers,
    /// The same of components that compute.
    Computing,
    Deliveries,
    Steps,
}

impl Kind {
    const ALL: [Self; 6] = [
        Self::Ingest,
        Self::IngestOfMany,
        Self::Answers,
        Self::Computing,
        Self::Deliveries,
        Self::Steps,
    ];

    fn what(self) -> &'static str {
        match self {
            Self::Ingest => "accepted, run and emitted",
            Self::IngestOfMany => "the same of seven times as many clients",
            Self::Answers => "customResponse",
            Self::Computing => "customResponse of components that compute",
            Self::Deliveries => "deliveries to a webhook",
            Self::Steps => "steps of workflows, three a run",
        }
    }
}

/// The nodes on one store, with sources and a workflow.
struct Installation {
    name: String,
    nodes: Vec<Node>,
    /// The paths of their endpoints.
    emitting: Vec<String>,
    answering: Vec<String>,
    computing: Vec<String>,
    /// The ids of sources of which a run emits [`MANY`] events, which the receiver gets.
    delivering: Vec<String>,
    receiver: Receiver,
    /// The paths of the triggers of workflows.
    workflows: Vec<String>,
}

impl Installation {
    async fn alone(binary: &Path, name: &str, flags: &[&str]) -> Result<Self> {
        let flags = [&[FLAG], flags].concat();
        let node = Node::start(binary, &flags).await?;
        Self::with_sources(name.to_owned(), vec![node]).await
    }

    async fn cluster(binary: &Path, count: usize, url: &str) -> Result<Self> {
        let mut nodes = Vec::new();
        for _ in 0..count {
            let address = free_address()?;
            let node_address = address.to_string();
            let secret = "secret-of-the-cluster-of-the-benches";
            let flags = [
                FLAG,
                "--database-url",
                url,
                "--cluster-secret",
                secret,
                "--node-address",
                &node_address,
            ];
            nodes.push(Node::start_at(binary, address, &flags).await?);
        }
        let name = format!("{count} nodes on PostgreSQL");
        let mut cluster = Self::with_sources(name, nodes).await?;
        cluster.until_all_work().await?;
        Ok(cluster)
    }

    async fn with_sources(name: String, mut nodes: Vec<Node>) -> Result<Self> {
        let api = &mut nodes.first_mut().context("no nodes")?.api;
        let [emitting, answering, computing] = [
            deployed(api, EMITS).await?,
            deployed(api, ANSWERS).await?,
            deployed(api, COMPUTES).await?,
        ];
        let receiver = Receiver::start().await?;
        let component = api.save(EMITS_MANY).await?;
        let (mut delivering, mut workflows) = (Vec::new(), Vec::new());
        for _ in 0..DELIVERING {
            let id = api.deploy(&component).await?.id;
            deliver::subscribe(api, &id, &receiver.url("/")).await?;
            delivering.push(id);
        }
        for _ in 0..SOURCES {
            workflows.push(workflows::deploy_pure(api, STEPS).await?);
        }
        Ok(Self {
            name,
            nodes,
            emitting,
            answering,
            computing,
            delivering,
            receiver,
            workflows,
        })
    }

    /// Loads it until every node runs some of the sources.
    async fn until_all_work(&mut self) -> Result<()> {
        let give_up_at = Instant::now() + JOINED_WITHIN;
        loop {
            for kind in [Kind::Answers, Kind::Ingest] {
                self.round(kind, Duration::from_millis(500)).await?;
            }
            let nodes = self.nodes[0]
                .api
                .call("GET", "/v1/nodes", &Value::Null)
                .await?;
            let nodes = nodes.as_array().context("no list of nodes")?;
            if nodes.len() == self.nodes.len() && nodes.iter().all(|node| node["owned"] != 0) {
                return Ok(());
            }
            if Instant::now() > give_up_at {
                bail!("not every node of {} runs something: {nodes:?}", self.name);
            }
        }
    }

    async fn round(&mut self, kind: Kind, duration: Duration) -> Result<f64> {
        match kind {
            Kind::Ingest => self.load(CONNECTIONS, &self.emitting, duration).await,
            Kind::IngestOfMany => self.load(MANY_CONNECTIONS, &self.emitting, duration).await,
            Kind::Answers => self.load(CONNECTIONS, &self.answering, duration).await,
            // Few at once: in a round, each of them is answered many times by a node that has a part of a processor.
            Kind::Computing => self.load(SOURCES, &self.computing, duration).await,
            Kind::Deliveries => self.deliver(duration).await,
            Kind::Steps => {
                let runs = self.load(CONNECTIONS, &self.workflows, duration).await?;
                Ok(runs * STEPS as f64)
            }
        }
    }

    /// Requests that were answered per second, and whose runs have ended. Each path is asked for at one of the nodes, whichever
    /// runs its source: a balancer in front of them does not know that.
    async fn load(&self, connections: usize, paths: &[String], duration: Duration) -> Result<f64> {
        let loads = paths
            .iter()
            .zip(self.nodes.iter().cycle())
            .map(|(path, node)| {
                let load = Load {
                    address: node.address(),
                    request: wire::request("POST", node.address(), path, "", BODY),
                    connections: connections / paths.len(),
                };
                async move { load.run(duration).await }
            });
        let begun = Instant::now();
        let answered = try_join_all(loads).await?;
        // The first one leads, and knows what is left.
        self.nodes[0]
            .until_none("headwater_queue_invocations")
            .await?;
        let requests: usize = answered.iter().map(|of| of.latencies.len()).sum();
        Ok(requests as f64 / begun.elapsed().as_secs_f64())
    }

    /// Events that the receiver got per second.
    async fn deliver(&mut self, duration: Duration) -> Result<f64> {
        let before = self.receiver.count();
        let run = json!({ "event": Value::Null });
        let begun = Instant::now();
        let mut emitted = 0;
        while begun.elapsed() < duration {
            let at_once = MANY * self.delivering.len();
            for id in &self.delivering {
                let path = format!("/v1/sources/{id}/run");
                self.nodes[0].api.call("POST", &path, &run).await?;
            }
            emitted += at_once;
            // One run of each ahead, so that there is always something to deliver and little is left in the end.
            self.receiver.until(before + emitted - at_once).await?;
        }
        self.receiver.until(before + emitted).await?;
        Ok(emitted as f64 / begun.elapsed().as_secs_f64())
    }
}

/// The paths of sources of that code.
async fn deployed(api: &mut Api, code: &str) -> Result<Vec<String>> {
    let component = api.save(code).await?;
    let mut paths = Vec::new();
    for _ in 0..SOURCES {
        paths.push(api.deploy(&component).await?.path);
    }
    Ok(paths)
}

/// An address that nobody has at present.
fn free_address() -> Result<SocketAddr> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

/// A database that is dropped in the end.
struct Database {
    url: String,
    name: String,
    creator: String,
}

impl Database {
    fn create(creator: &str, number: u32) -> Result<Self> {
        let name = format!("headwater_bench_{}_{number}", std::process::id());
        psql(creator, &format!("CREATE DATABASE {name}"))?;
        let (before, options) = creator.split_once('?').unwrap_or((creator, ""));
        let server = before.rsplit_once('/').map_or(before, |(server, _)| server);
        Ok(Self {
            url: format!("{server}/{name}?{options}"),
            name,
            creator: creator.to_owned(),
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let dropped = psql(
            &self.creator,
            &format!("DROP DATABASE {} WITH (FORCE)", self.name),
        );
        if let Err(error) = dropped {
            eprintln!("{error:#}");
        }
    }
}

fn psql(url: &str, statement: &str) -> Result<()> {
    let done = Command::new("psql")
        .args(["--quiet", "--command", statement, url])
        .status();
    match done
        .context("`psql` is needed, of Debian's package postgresql-client")?
        .success()
    {
        true => Ok(()),
        false => bail!("`{statement}` failed"),
    }
}
