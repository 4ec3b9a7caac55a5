//! A node that keeps many events, beside an empty one: its start, taking requests in, and reading pages of events.

use std::{net::SocketAddr, path::Path, time::Instant};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    asked::Sizes,
    load::Load,
    node::{API_KEY, Node, Source},
    report::{Budget, Line, Report},
    rounds::{Side, compare},
    wire,
};

/// As many as there are, so that none is deleted.
const FLAGS: [&str; 1] = ["--retained-events=1000000000"];
const FILLERS: usize = 8;
const EVENTS_PER_RUN: usize = 2000;
const EVENT_BYTES: usize = 1024;
const CONNECTIONS: usize = 32;
const PAGE: usize = 100;

const FILLS: &str = r#"let n = 0;
export default {
  name: "Fills", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) {
    for (let i = 0; i < event.events; i++) this.$emit({ n: ++n, text: "x".repeat(event.bytes) }, { summary: `Item ${n}` });
  },
};"#;
/// Its runs begin and then wait: only taking requests in is measured.
const WAITS: &str = r#"export default {
  name: "Waits", version: "0.0.1", props: { http: "$.interface.http" },
  run: () => new Promise((resolve) => setTimeout(resolve, 50_000)),
};"#;

/// A node with a source that keeps events, and one that takes requests.
struct Stored {
    node: Node,
    kept: Source,
    waits: Source,
}

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let mut large = Stored::start(binary).await?;
    let mut empty = Stored::start(binary).await?;
    for stored in [&mut large, &mut empty] {
        stored.run_once(2 * PAGE).await?;
    }
    let early = format!("&after={}", large.newest().await?);
    eprintln!("  filling a store with {} GB of events", sizes.store_gb);
    let events = large.fill((sizes.store_gb * 1e9) as u64).await?;
    let bytes = large.node.stored_bytes();
    let what = format!("a store of {:.1} GB, {events} events", bytes as f64 / 1e9);
    let (large, ready) = large.restart().await?;
    let (empty, empty_ready) = empty.restart().await?;
    report.add(Line {
        what: format!("{what}: start to ready, killed before"),
        ours: format!("{:.0} ms", ready * 1e3),
        bare: format!("{:.0} ms with an empty one", empty_ready * 1e3),
        figure: ready / empty_ready,
        shown: format!("× {:.2}", ready / empty_ready),
        budget: Budget::None,
    });
    let page = |stored: &Stored, query: &str| {
        let path = format!(
            "/v1/sources/{}/event_summaries?limit={PAGE}{query}",
            stored.kept.id
        );
        stored.load("GET", &path)
    };
    let ingest = |stored: &Stored| stored.load("POST", &stored.waits.path);
    for (which, ours, bare) in [
        ("durable ingest", ingest(&large), ingest(&empty)),
        (
            "the newest page of events",
            page(&large, ""),
            page(&empty, ""),
        ),
        ("a page far back", page(&large, &early), page(&empty, "")),
    ] {
        let [ours, bare] = [(&large, ours), (&empty, bare)].map(|(stored, load)| Side {
            process: stored.node.process(),
            load,
        });
        let compared = compare(&ours, &bare, None).await?;
        let what = format!("{what}: {which}, {CONNECTIONS} connections");
        report.compare(&what, "with an empty one", &compared, Budget::None);
    }
    Ok(())
}

impl Stored {
    async fn start(binary: &Path) -> Result<Self> {
        let mut node = Node::start(binary, &FLAGS).await?;
        let [fills, waits] = [node.api.save(FILLS).await?, node.api.save(WAITS).await?];
        Ok(Self {
            kept: node.api.deploy(&fills).await?,
            waits: node.api.deploy(&waits).await?,
            node,
        })
    }

    async fn run_once(&mut self, events: usize) -> Result<()> {
        let path = format!("/v1/sources/{}/run", self.kept.id);
        let run = json!({ "event": { "events": events, "bytes": EVENT_BYTES } });
        self.node.api.call("POST", &path, &run).await?;
        Ok(())
    }

    /// Emits until the store takes so many bytes; the number of events.
    async fn fill(&mut self, bytes: u64) -> Result<usize> {
        let begun = Instant::now();
        let mut events = 0;
        let sources = self.fillers().await?;
        while self.node.stored_bytes() < bytes {
            let mut runs = JoinSet::new();
            for id in &sources {
                let mut api = self.node.connect().await?;
                let path = format!("/v1/sources/{id}/run");
                runs.spawn(async move {
                    let run =
                        json!({ "event": { "events": EVENTS_PER_RUN, "bytes": EVENT_BYTES } });
                    api.call("POST", &path, &run).await
                });
            }
            while let Some(joined) = runs.join_next().await {
                joined??;
                events += EVENTS_PER_RUN;
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!("    {events} events in {seconds:.0} s");
        Ok(events)
    }

    /// The source whose events are read, and further ones with as many.
    async fn fillers(&mut self) -> Result<Vec<String>> {
        let component = self.node.api.save(FILLS).await?;
        let mut sources = vec![self.kept.id.clone()];
        for _ in 1..FILLERS {
            sources.push(self.node.api.deploy(&component).await?.id);
        }
        Ok(sources)
    }

    async fn restart(self) -> Result<(Self, f64)> {
        let Self { node, kept, waits } = self;
        let (node, took) = node.restart(&FLAGS).await?;
        Ok((Self { node, kept, waits }, took.as_secs_f64()))
    }

    /// The newest event of the source whose events are read.
    async fn newest(&mut self) -> Result<String> {
        let path = format!("/v1/sources/{}/event_summaries?limit=1", self.kept.id);
        let events = self.node.api.call("GET", &path, &Value::Null).await?;
        Ok(events[0]["id"]
            .as_str()
            .context("events have ids")?
            .to_owned())
    }

    fn load(&self, method: &str, path: &str) -> Load {
        let address: SocketAddr = self.node.address();
        let key = format!("authorization: Bearer {API_KEY}\r\n");
        Load {
            address,
            request: wire::request(method, address, path, &key, ""),
            connections: CONNECTIONS,
        }
    }
}
