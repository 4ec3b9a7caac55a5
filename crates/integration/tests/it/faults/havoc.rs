//! The nodes, and what befalls them.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc, time::Duration};

use headwater_integration::{Database, Node, Wire};
use serde_json::json;

use crate::crash::seed::Seed;

/// Longer than the silence after which a node counts as dead.
const SILENT: Duration = Duration::from_secs(10);
/// Shorter than that.
const SHORT: Duration = Duration::from_secs(2);
/// Between two faults, so that the load goes on.
const APART: Duration = Duration::from_secs(1);

/// Three nodes with their wires.
pub(super) struct Fleet {
    nodes: Vec<(Node, Wire)>,
    database: Arc<Database>,
    suffered: BTreeMap<&'static str, usize>,
}

/// The kinds of faults.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Kill,
    Pause,
    Stop,
    Drain,
    CutForLong,
    CutShortly,
    EndConnections,
}

const KINDS: [Fault; 7] = [
    Fault::Kill,
    Fault::Pause,
    Fault::Stop,
    Fault::Drain,
    Fault::CutForLong,
    Fault::CutShortly,
    Fault::EndConnections,
];

impl Fleet {
    pub(super) async fn start(database: &Arc<Database>, count: usize) -> Self {
        let mut nodes = Vec::new();
        for _ in 0..count {
            let wire = Wire::to(database);
            let node = Node::builder()
                .of_cluster(database)
                .env("HEADWATER_DATABASE_URL", &wire.url())
                .private_network()
                .flag("--shutdown-grace=3s")
                .flag("--retained-events=1000000")
                .start()
                .await;
            nodes.push((node, wire));
        }
        Self {
            nodes,
            database: Arc::clone(database),
            suffered: BTreeMap::new(),
        }
    }

    pub(super) fn node(&self, number: usize) -> &Node {
        &self.nodes[number].0
    }

    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        self.nodes.iter().map(|(node, _)| node.address()).collect()
    }

    /// Lets so many faults happen, one after the other: each kind once before any comes again.
    pub(super) async fn suffer(&mut self, seed: &mut Seed, faults: usize) {
        let mut left = Vec::new();
        for _ in 0..faults {
            if left.is_empty() {
                left.extend(KINDS);
            }
            let fault = left.swap_remove(seed.below(left.len()));
            // Mostly the one that leads: others are hardly missed.
            let number = match seed.below(3) {
                0 => seed.below(self.nodes.len()),
                _ => self.leader().await,
            };
            self.befall(fault, number).await;
            tokio::time::sleep(APART).await;
        }
    }

    async fn befall(&mut self, fault: Fault, number: usize) {
        *self.suffered.entry(name(fault)).or_default() += 1;
        let database = Arc::clone(&self.database);
        let other = (number + 1) % self.nodes.len();
        let (node, wire) = &mut self.nodes[number];
        match fault {
            Fault::Kill => {
                node.kill_9();
                tokio::time::sleep(SHORT).await;
                node.restart().await;
            }
            Fault::Pause => {
                node.signal("STOP");
                tokio::time::sleep(SILENT).await;
                node.signal("CONT");
            }
            Fault::Stop => {
                node.terminate().await;
                node.restart().await;
            }
            Fault::Drain => {
                let path = format!("/nodes/{}", node.id());
                let other = &self.nodes[other].0;
                // A node that is just coming back may not be seen yet by the others.
                let drained = other.patch(&path, json!({"draining": true})).await;
                if drained.status == 200 {
                    tokio::time::sleep(SHORT).await;
                    other.patch(&path, json!({"draining": false})).await.is(200);
                }
            }
            Fault::CutForLong | Fault::CutShortly => {
                wire.cut();
                let length = match fault {
                    Fault::CutForLong => SILENT,
                    _ => SHORT,
                };
                tokio::time::sleep(length).await;
                wire.mend();
            }
            Fault::EndConnections => {
                database.sql(
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
                     WHERE datname = current_database() AND application_name = 'headwater'",
                );
            }
        }
    }

    /// The number of the node that leads, or of any if that is nobody now.
    async fn leader(&self) -> usize {
        let leader = self
            .database
            .sql("SELECT name FROM nodes WHERE NOT is_dead ORDER BY epoch DESC LIMIT 1");
        let leads = |(node, _): &(Node, Wire)| node.id() == leader;
        self.nodes.iter().position(leads).unwrap_or_default()
    }

    /// A node, once all of them serve.
    pub(super) async fn whole(&self) -> &Node {
        for (node, _) in &self.nodes {
            node.get("/users/me").await.is(200);
        }
        self.node(0)
    }

    pub(super) fn shown(&self) -> String {
        let shown = self.suffered.iter();
        let shown: Vec<_> = shown
            .map(|(name, times)| format!("{times} {name}"))
            .collect();
        shown.join(", ")
    }
}

fn name(fault: Fault) -> &'static str {
    match fault {
        Fault::Kill => "killed",
        Fault::Pause => "paused",
        Fault::Stop => "stopped",
        Fault::Drain => "drained",
        Fault::CutForLong => "cut off for long",
        Fault::CutShortly => "cut off shortly",
        Fault::EndConnections => "connections ended by the database",
    }
}
