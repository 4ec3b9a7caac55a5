//! The doings of a day: sources that poll, requests that make events, webhooks of which one often fails, a listening
//! source, people who deploy, update and delete sources, and clients that read.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::{
    bench::deliver::subscribe,
    deploying::{Order, deploy_all},
    node::{Api, Node, Source},
    polled::Polled,
    receiver::Receiver,
    wire::{self, Connection},
};

/// Each polls once a minute of the node's clock.
const POLLERS: usize = 40;
/// Requests per minute of the node's clock.
const REQUESTS: f64 = 30.0;
/// Sources deployed, updated and deleted per hour of it.
const DEPLOYMENTS: f64 = 12.0;
/// Pages read per minute of it.
const READS: f64 = 6.0;

const POLLS: &str = r#"import { axios } from "@pipedream/platform";
export default {
  name: "Polls", version: "0.0.1", dedupe: "unique",
  props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } }, url: "string", db: "$.service.db" },
  async run() {
    const found = await axios(this, { url: this.url });
    const polls = (this.db.get("polls") ?? 0) + 1;
    this.db.set("polls", polls);
    console.log("poll", polls);
    if (found.is_new) this.$emit(found, { id: found.n, summary: `Item ${found.n}` });
    if (polls % 50 === 0) throw new Error("The API is down");
  },
};"#;
const TAKES: &str = r#"export default {
  name: "Takes", version: "0.0.1", props: { http: "$.interface.http", db: "$.service.db" },
  run(event) { this.db.set(`key${event.body.n % 100}`, event.body); this.$emit(event.body); },
};"#;
const LISTENS: &str = r#"export default {
  name: "Listens", version: "0.0.1", props: { http: "$.interface.http" },
  run(event) { if (event.n % 10 === 0) this.$emit(event); },
};"#;

/// Everything that goes on; dropping it ends it.
pub(super) struct Life {
    doings: JoinSet<Result<()>>,
    done: Arc<Done>,
    receiver: Receiver,
}

/// Counts of it.
#[derive(Default)]
struct Done {
    requests: AtomicU64,
    deployments: AtomicU64,
    reads: AtomicU64,
}

impl Life {
    /// Sets the node up and begins; `speed` is the node's clock's.
    pub(super) async fn begin(node: &mut Node, speed: f64) -> Result<Self> {
        let minute = Duration::from_secs_f64(60.0 / speed);
        let (polled, receiver) = (Polled::start().await?, Receiver::start().await?);
        poll(node, &polled, minute).await?;
        let [takes, listens] = [node.api.save(TAKES).await?, node.api.save(LISTENS).await?];
        let taking = node.api.deploy(&takes).await?;
        let listening = node.api.deploy(&listens).await?;
        let subscription = json!({ "emitter_id": taking.id, "listener_id": listening.id });
        node.api
            .call("POST", "/v1/subscriptions", &subscription)
            .await?;
        for path in ["/", "/fail-often"] {
            subscribe(&mut node.api, &taking.id, &receiver.url(path)).await?;
        }
        let done = Arc::<Done>::default();
        let mut doings = JoinSet::new();
        doings.spawn(request(
            Connection::open(node.address()).await?,
            wire_request(node, &taking),
            minute.div_f64(REQUESTS),
            Arc::clone(&done),
        ));
        doings.spawn(come_and_go(
            node.connect().await?,
            (minute * 60).div_f64(DEPLOYMENTS),
            Arc::clone(&done),
        ));
        doings.spawn(read(
            node.connect().await?,
            taking.id,
            minute.div_f64(READS),
            Arc::clone(&done),
        ));
        Ok(Self {
            doings,
            done,
            receiver,
        })
    }

    /// Counts for people.
    pub(super) fn done(&self) -> String {
        format!("{}, {} deliveries", self.done, self.receiver.count())
    }

    /// Checks that it goes on.
    ///
    /// # Errors
    /// A part of it has ended: then it is not this life that is watched.
    pub(super) fn go_on(&mut self) -> Result<()> {
        match self.doings.try_join_next() {
            Some(ended) => ended?.context("the load ended early"),
            None => Ok(()),
        }
    }
}

async fn poll(node: &mut Node, polled: &Polled, minute: Duration) -> Result<()> {
    let component = node.api.save(POLLS).await?;
    let begun = Instant::now();
    let orders = (0..POLLERS).map(|number| Order {
        number,
        at: begun + minute.mul_f64(number as f64 / POLLERS as f64),
        component: component.clone(),
        props: json!({ "url": polled.url(number) }),
    });
    let orders = orders.collect();
    deploy_all(vec![(node.connect().await?, orders)]).await?;
    Ok(())
}

fn wire_request(node: &Node, source: &Source) -> impl Fn(u64) -> Vec<u8> + Send + 'static {
    let (address, path) = (node.address(), source.path.clone());
    move |n| {
        let body = json!({ "n": n, "text": "An order of the usual kind", "lines": [1, 2, 3] });
        wire::request("POST", address, &path, "", &body.to_string())
    }
}

async fn request(
    mut connection: Connection,
    request: impl Fn(u64) -> Vec<u8>,
    pause: Duration,
    done: Arc<Done>,
) -> Result<()> {
    let mut at = tokio::time::interval(pause);
    loop {
        at.tick().await;
        let n = done.requests.fetch_add(1, Ordering::Relaxed);
        let (status, _) = connection.exchange(&request(n)).await?;
        anyhow::ensure!(status == 200, "a request was answered with {status}");
    }
}

/// Deploys a source, calls it, updates it, and deletes it again.
async fn come_and_go(mut api: Api, pause: Duration, done: Arc<Done>) -> Result<()> {
    let mut at = tokio::time::interval(pause);
    loop {
        at.tick().await;
        let n = done.deployments.load(Ordering::Relaxed);
        let code = LISTENS.replace("Listens", &format!("Listens {n}"));
        let component = api.save(&code).await?;
        let source = api.deploy(&component).await?;
        let path = format!("/v1/sources/{}", source.id);
        let event = json!({ "event": { "n": n } });
        api.call("POST", &format!("{path}/run"), &event).await?;
        let update = json!({ "component_code": code.replace("0.0.1", "0.0.2") });
        api.call("PUT", &path, &update).await?;
        api.call("POST", &format!("{path}/run"), &event).await?;
        api.call("DELETE", &path, &Value::Null).await?;
        done.deployments.fetch_add(1, Ordering::Relaxed);
    }
}

async fn read(mut api: Api, source: String, pause: Duration, done: Arc<Done>) -> Result<()> {
    let mut at = tokio::time::interval(pause);
    loop {
        at.tick().await;
        for path in ["event_summaries?limit=100&expand=event", "runs?limit=100"] {
            let path = format!("/v1/sources/{source}/{path}");
            api.call("GET", &path, &Value::Null).await?;
        }
        done.reads.fetch_add(1, Ordering::Relaxed);
    }
}

impl fmt::Display for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [requests, deployments, reads] = [&self.requests, &self.deployments, &self.reads]
            .map(|count| count.load(Ordering::Relaxed));
        write!(
            f,
            "{requests} requests, {deployments} deployments, {reads} reads"
        )
    }
}
