//! The mishaps of the node, in an order that the seed decides.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use headwater_integration::{Node, Source};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::JoinSet};

use super::{disk, webhook::Webhook};
use crate::crash::seed::Seed;

/// Between two deeds, so that the node also gets something done.
const PAUSE: Duration = Duration::from_millis(700);
/// How long a disk is full.
const FULL: Duration = Duration::from_secs(2);
/// Connections of each kind that one act of abuse holds.
const HELD: usize = 8;

const LOOPS: &str = r#"export default {
  name: "Loops", version: "0.0.1", props: { http: "$.interface.http" },
  run() { for (;;); },
};"#;
const FLOODS: &str = r#"export default {
  name: "Floods", version: "0.0.1", props: { http: "$.interface.http", db: "$.service.db" },
  run() {
    this.db.set("hoard", "x".repeat(1_000_000));
    for (let n = 0; n < 200; n++) { console.log("x".repeat(500)); this.$emit({ n, text: "x".repeat(1000) }); }
    throw new Error("and out");
  },
};"#;

/// One thing that goes wrong.
#[derive(Debug, Clone, Copy)]
enum Deed {
    KillNode,
    StopNode,
    KillWorkers,
    FillDisk,
    FailWebhook,
    Abuse,
}

const ALL: [Deed; 6] = [
    Deed::KillNode,
    Deed::StopNode,
    Deed::KillWorkers,
    Deed::FillDisk,
    Deed::FailWebhook,
    Deed::Abuse,
];

impl Deed {
    /// Whether the node's process ends by it.
    fn ends_the_node(self) -> bool {
        matches!(self, Self::KillNode | Self::StopNode)
    }
}

/// All that goes wrong.
pub(super) struct Havoc {
    has_disk: bool,
    webhook_is_down: Arc<AtomicBool>,
    abusive: [Source; 2],
    http: reqwest::Client,
    held: JoinSet<()>,
    /// Deeds left of this turn: each comes once before any comes again.
    to_come: Vec<Deed>,
    done: [usize; ALL.len()],
}

impl Havoc {
    pub(super) async fn new(node: &Node, has_disk: bool, webhook: &Webhook) -> Self {
        let abuser = node.user("abuser").await;
        let deploy = async |code: &str| {
            let answer = abuser
                .post("/sources", json!({"component_code": code}))
                .await;
            Source::new(answer.is(200).data())
        };
        Self {
            has_disk,
            webhook_is_down: webhook.is_down(),
            abusive: [deploy(LOOPS).await, deploy(FLOODS).await],
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            held: JoinSet::new(),
            to_come: Vec::new(),
            done: [0; ALL.len()],
        }
    }

    /// Does whatever is next, and waits a moment.
    pub(super) async fn next(&mut self, seed: &mut Seed, node: &mut Node) {
        let deed = self.draw(seed);
        self.act(deed, node).await;
    }

    /// The same for what the node's process outlives.
    pub(super) async fn next_without_restart(&mut self, seed: &mut Seed, node: &mut Node) {
        let deed = self.draw(seed);
        if !deed.ends_the_node() {
            self.act(deed, node).await;
        }
    }

    fn draw(&mut self, seed: &mut Seed) -> Deed {
        if self.to_come.is_empty() {
            self.to_come = ALL.to_vec();
        }
        self.to_come.swap_remove(seed.below(self.to_come.len()))
    }

    async fn act(&mut self, deed: Deed, node: &mut Node) {
        match deed {
            Deed::KillNode => node.restart().await,
            Deed::StopNode => {
                node.terminate().await;
                node.restart().await;
            }
            Deed::KillWorkers => drop(node.kill_workers()),
            Deed::FillDisk if !self.has_disk => return,
            Deed::FillDisk => {
                disk::fill(node);
                tokio::time::sleep(FULL).await;
                disk::clear(node);
            }
            Deed::FailWebhook => {
                self.webhook_is_down.fetch_not(Ordering::Relaxed);
            }
            Deed::Abuse => self.abuse(node).await,
        }
        self.done[deed as usize] += 1;
        tokio::time::sleep(PAUSE).await;
    }

    async fn abuse(&mut self, node: &Node) {
        // Those of the last time are let go.
        self.held.abort_all();
        let address = node.url();
        let address = address.trim_start_matches("http://").to_owned();
        let body = "POST /e/nothing HTTP/1.1\r\nhost: a\r\ncontent-length: 1000000\r\n\r\nbegun";
        for beginning in ["GET / HTTP/1.1\r\nhost: a\r\nx: ", body] {
            for _ in 0..HELD {
                self.held.spawn(hold(address.clone(), beginning));
            }
        }
        for source in &self.abusive {
            let request = self.http.post(source.endpoint()).body("{}");
            // Refused or not, it is not what must be kept.
            let _ = request.timeout(Duration::from_secs(5)).send().await;
        }
    }

    /// Nothing goes wrong any more.
    pub(super) fn end(&mut self) {
        self.webhook_is_down.store(false, Ordering::Relaxed);
        self.held.abort_all();
    }

    pub(super) fn shown(&self) -> String {
        let each = ALL.iter().zip(self.done);
        let shown: Vec<_> = each
            .map(|(deed, count)| format!("{count} × {deed:?}"))
            .collect();
        shown.join(", ")
    }
}

/// Keeps a connection with the beginning of a request.
async fn hold(address: String, beginning: &'static str) {
    if let Ok(mut stream) = TcpStream::connect(address).await {
        let _ = stream.write_all(beginning.as_bytes()).await;
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
}
