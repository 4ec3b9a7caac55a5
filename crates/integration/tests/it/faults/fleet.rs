//! The nodes, each with a wire of its own to the database and a clock of its own, and the faults that befall them.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use headwater_integration::{Database, Node, Wire};
use serde_json::json;
use tempfile::TempDir;

use super::{fault::Fault, losses::Losses};
use crate::crash::seed::Seed;

/// Between two faults, so that the load goes on.
const APART: Duration = Duration::from_secs(1);
/// Between two looks at a database that may be down.
const PAUSE: Duration = Duration::from_millis(100);
/// The library that sets the clock of a process, where `cargo xtask faults` has found it.
const FAKETIME: &str = "HEADWATER_TEST_FAKETIME";

/// A node with its wire.
pub(super) struct Suffering {
    pub(super) node: Node,
    pub(super) wire: Wire,
}

/// The nodes of a cluster.
pub(super) struct Fleet {
    nodes: Vec<Suffering>,
    database: Arc<Database>,
    /// A file for the clock of each node.
    clocks: TempDir,
    suffered: BTreeMap<Fault, usize>,
}

impl Fleet {
    pub(super) async fn start(database: &Arc<Database>, count: usize) -> Self {
        let mut fleet = Self {
            nodes: Vec::new(),
            database: Arc::clone(database),
            clocks: TempDir::with_prefix("headwater-clocks-").unwrap(),
            suffered: BTreeMap::new(),
        };
        for number in 0..count {
            let wire = Wire::to(database);
            let mut node = Node::builder()
                .of_cluster(database)
                .env("HEADWATER_DATABASE_URL", &wire.url())
                .private_network()
                .flag("--shutdown-grace=3s")
                .flag("--retained-events=1000000")
                .flag("--retained-runs=1000000");
            if let Some(library) = faketime() {
                let file = fleet.clock(number);
                std::fs::write(&file, "+0").unwrap();
                let environment = [
                    ("LD_PRELOAD", library.as_str()),
                    ("FAKETIME_TIMESTAMP_FILE", file.to_str().unwrap()),
                    ("FAKETIME_CACHE_DURATION", "1"),
                    ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
                    ("NO_FAKE_STAT", "1"),
                ];
                for (name, value) in environment {
                    node = node.env(name, value);
                }
            }
            let node = node.start().await;
            fleet.nodes.push(Suffering { node, wire });
        }
        fleet
    }

    pub(super) fn node(&self, number: usize) -> &Node {
        &self.nodes[number].node
    }

    pub(super) fn suffering(&mut self, number: usize) -> &mut Suffering {
        &mut self.nodes[number]
    }

    pub(super) fn database(&self) -> Arc<Database> {
        Arc::clone(&self.database)
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let nodes = self.nodes.iter();
        nodes.map(|suffering| suffering.node.address()).collect()
    }

    /// Lets so many faults happen, one after the other: each kind once before any comes again.
    pub(super) async fn suffer(
        &mut self,
        seed: &mut Seed,
        kinds: &[Fault],
        faults: usize,
        losses: &mut Losses,
    ) {
        let mut left = Vec::new();
        for _ in 0..faults {
            if left.is_empty() {
                left.extend(kinds);
            }
            let fault: Fault = left.swap_remove(seed.below(left.len()));
            // Mostly the one that leads: others are hardly missed.
            let leader = self.leader().await;
            // Both are drawn each time, so that what follows from the seed does not depend on who leads.
            let (aim, any) = (seed.below(3), seed.below(self.nodes.len()));
            let number = match (aim, leader) {
                (1.., Some(leader)) => leader,
                _ => any,
            };
            *self.suffered.entry(fault).or_default() += 1;
            fault.begin(self, number).await;
            let loss = match fault.loses_a_node() {
                true => Some(losses.begin(fault, leader == Some(number)).await),
                false => None,
            };
            tokio::time::sleep(fault.lasts()).await;
            if let (Fault::Lose, Some(loss)) = (fault, &loss) {
                loss.until_over(&self.database).await;
            }
            fault.end(self, number).await;
            if let Some(loss) = loss {
                losses.end(loss).await;
            }
            tokio::time::sleep(APART).await;
        }
    }

    /// Sets the clock of a node, and those of all others right.
    pub(super) fn set_clock(&self, number: usize, wrong: &str, right: &str) {
        for other in 0..self.nodes.len() {
            let set = match other == number {
                true => wrong,
                false => right,
            };
            std::fs::write(self.clock(other), set).unwrap();
        }
    }

    pub(super) async fn drain(&self, number: usize, is_draining: bool) {
        let path = format!("/nodes/{}", self.node(number).id());
        let other = self.node((number + 1) % self.nodes.len());
        let draining = json!({"draining": is_draining});
        // A node that is just coming back may not be seen yet by the others, or be the only one.
        let mut answer = other.patch(&path, draining.clone()).await;
        while answer.status >= 500 {
            tokio::time::sleep(PAUSE).await;
            answer = other.patch(&path, draining.clone()).await;
        }
        assert!(
            [200, 404, 409].contains(&answer.status),
            "{}: {}",
            answer.status,
            answer.text
        );
    }

    /// The number of the node that leads, if there is one.
    async fn leader(&self) -> Option<usize> {
        let leads = "SELECT coalesce(
            (SELECT name FROM nodes WHERE NOT is_dead ORDER BY epoch DESC LIMIT 1), '')";
        let leader = answered(&self.database, leads).await;
        let mut nodes = self.nodes.iter();
        nodes.position(|suffering| suffering.node.id() == leader)
    }

    /// A node, once all of them serve.
    pub(super) async fn whole(&self) -> &Node {
        for Suffering { node, .. } in &self.nodes {
            node.get("/users/me").await.is(200);
        }
        self.node(0)
    }

    pub(super) fn shown(&self) -> String {
        let shown = self.suffered.iter();
        let shown: Vec<_> = shown
            .map(|(fault, times)| format!("{times} {fault}"))
            .collect();
        shown.join(", ")
    }

    fn clock(&self, number: usize) -> PathBuf {
        self.clocks.path().join(number.to_string())
    }
}

/// The answer of a database that may just be starting again.
pub(super) async fn answered(database: &Database, sql: &str) -> String {
    loop {
        match database.try_sql(sql) {
            Some(answer) => return answer,
            None => tokio::time::sleep(PAUSE).await,
        }
    }
}

/// The library that sets clocks, if this machine has it.
pub(super) fn faketime() -> Option<String> {
    std::env::var(FAKETIME).ok().filter(|path| !path.is_empty())
}
