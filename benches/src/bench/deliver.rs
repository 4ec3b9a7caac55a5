//! From `$emit` to the POST at a webhook, beside the same POSTs sent by a bare client in a loop.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use crate::{
    node::{Api, Node},
    receiver::{Receiver, now_ms},
    report::{Budget, Line, Report},
    statistics::{median, quantile},
    wire::{self, Connection},
};

const FLAGS: [&str; 1] = ["--allow-private-network"];
const SINGLE: usize = 500;
const WARM_UP: usize = 50;
const EVENTS: usize = 1000;
const RUNS: usize = 20;

/// Says when it emits, so that what comes before is not measured.
const SINGLE_CODE: &str = r#"export default {
  name: "Tells", version: "0.0.1",
  props: { http: "$.interface.http" },
  run({ body }) { this.$emit({ n: body.n, at: performance.timeOrigin + performance.now() }); },
};"#;

const MANY_CODE: &str = r#"let n = 0;
export default {
  name: "Emits", version: "0.0.1",
  props: { http: "$.interface.http" },
  run() {
    for (let i = 0; i < 1000; i++) {
      n++;
      this.$emit({ n, title: "An item of the usual kind", url: `https://example.com/items/${n}`, tags: ["a", "b"] });
    }
  },
};"#;

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    single(binary, report).await?;
    for webhooks in [1, 8] {
        many(binary, report, webhooks).await?;
    }
    Ok(())
}

/// Creates a webhook and subscribes it.
pub(super) async fn subscribe(api: &mut Api, emitter: &str, url: &str) -> Result<()> {
    let webhook = api
        .call("POST", "/v1/webhooks", &json!({ "url": url }))
        .await?;
    let subscription = json!({ "emitter_id": emitter, "listener_id": webhook["id"] });
    api.call("POST", "/v1/subscriptions", &subscription).await?;
    Ok(())
}

/// One event at a time.
async fn single(binary: &Path, report: &mut Report) -> Result<()> {
    let mut receiver = Receiver::start().await?;
    let mut node = Node::start(binary, &FLAGS).await?;
    let component = node.api.save(SINGLE_CODE).await?;
    let source = node.api.deploy(&component).await?;
    subscribe(&mut node.api, &source.id, &receiver.url("/")).await?;
    let mut requests = Connection::open(node.address()).await?;
    let mut posts = Connection::open(receiver.address()).await?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for n in 0..WARM_UP + SINGLE {
        let body = json!({ "n": n }).to_string();
        let request = wire::request("POST", node.address(), &source.path, "", &body);
        requests.exchange(&request).await?;
        let arrival = receiver.next().await?;
        let event: Value = serde_json::from_slice(&arrival.body)?;
        let emitted_at_ms = event["at"].as_f64().context("an event without its time")?;
        let body = json!({ "n": n, "at": now_ms() }).to_string();
        let post = wire::request("POST", receiver.address(), "/", "", &body);
        let begun_ms = now_ms();
        posts.exchange(&post).await?;
        let posted = receiver.next().await?;
        if n >= WARM_UP {
            ours.push(arrival.at_ms - emitted_at_ms);
            bare.push(posted.at_ms - begun_ms);
        }
    }
    let shown = |times: &[f64]| {
        let (p50, p99) = (median(times), quantile(times, 0.99));
        format!("p50 {p50:.2} p99 {p99:.2} ms")
    };
    report.add(Line {
        what: "emit to POST at a webhook, one event at a time".to_owned(),
        ours: shown(&ours),
        bare: shown(&bare),
        figure: median(&ours),
        shown: format!("p50 {:.1} ms", median(&ours)),
        budget: Budget::AtMost(2.0, "2 ms"),
    });
    Ok(())
}

/// A thousand events a run, to so many webhooks.
async fn many(binary: &Path, report: &mut Report, webhooks: usize) -> Result<()> {
    let mut receiver = Receiver::start().await?;
    let mut node = Node::start(binary, &FLAGS).await?;
    let component = node.api.save(MANY_CODE).await?;
    let source = node.api.deploy(&component).await?;
    for number in 0..webhooks {
        let url = receiver.url(&format!("/{number}"));
        subscribe(&mut node.api, &source.id, &url).await?;
    }
    let path = format!("/v1/sources/{}/run", source.id);
    let run = json!({ "event": Value::Null });
    node.api.call("POST", &path, &run).await?;
    receiver.until(EVENTS * webhooks).await?;
    let before = receiver.count();
    let begun = Instant::now();
    for _ in 0..RUNS {
        node.api.call("POST", &path, &run).await?;
    }
    receiver.until(before + EVENTS * RUNS * webhooks).await?;
    let ours = rate(EVENTS * RUNS * webhooks, begun.elapsed());
    let bare = bare_loops(&mut receiver, webhooks).await?;
    report.add(Line {
        what: format!("events to {webhooks} webhook(s), {EVENTS} a run, {RUNS} runs"),
        ours: format!("{ours:.0} deliveries/s"),
        bare: format!("{bare:.0} POSTs/s over {webhooks} connection(s)"),
        figure: ours,
        shown: format!("{ours:.0}/s, {:.0} %", ours / bare * 100.0),
        budget: match webhooks {
            1 => Budget::AtLeast(10_000.0, "10,000/s"),
            _ => Budget::None,
        },
    });
    Ok(())
}

/// As many POSTs of the same size, a loop per connection.
async fn bare_loops(receiver: &mut Receiver, connections: usize) -> Result<f64> {
    let address = receiver.address();
    let body = r#"{"n":10000,"title":"An item of the usual kind","url":"https://example.com/items/10000","tags":["a","b"]}"#;
    let begun = Instant::now();
    let mut loops = tokio::task::JoinSet::new();
    for _ in 0..connections {
        loops.spawn(async move {
            let mut connection = Connection::open(address).await?;
            let post = wire::request("POST", address, "/", "", body);
            for _ in 0..EVENTS * RUNS {
                connection.exchange(&post).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(joined) = loops.join_next().await {
        joined??;
    }
    let took = begun.elapsed();
    let count = receiver.count();
    receiver.until(count).await?;
    Ok(rate(EVENTS * RUNS * connections, took))
}

fn rate(count: usize, took: Duration) -> f64 {
    count as f64 / took.as_secs_f64()
}
