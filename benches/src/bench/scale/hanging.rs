//! Many webhooks of which a third never answers: the time until the others have an event, beside the same number of
//! webhooks that all answer. Each webhook is on a host of its own, as those of many people are.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::subscribers::{FLAGS, TELLS, subscribe_all};
use crate::{
    asked::Sizes,
    node::Node,
    receiver::Receiver,
    report::{Budget, Line, Report},
    statistics::quantile,
};

const WEBHOOKS: usize = 10_000;
/// One in so many hangs.
const ONE_IN: usize = 3;
const EVENTS: usize = 10;
/// Between two events.
const PAUSE: Duration = Duration::from_secs(5);
/// From an event's emission; a delivery that has not come by then counts as having taken that long.
const PATIENCE: Duration = Duration::from_secs(120);
/// The first event opens connections.
const WARM_UP: usize = 1;

pub(super) async fn run(binary: &Path, sizes: &Sizes, report: &mut Report) -> Result<()> {
    let count = sizes.at_most(WEBHOOKS);
    eprintln!("  {count} webhooks, all of which answer");
    let healthy = deliveries(binary, count, |_| false).await?;
    eprintln!("  {count} webhooks of which a third hangs");
    let beside = deliveries(binary, count, |number| number % ONE_IN == 0).await?;
    let shown = |times: &Times| {
        let [p50, p99] = [0.5, 0.99].map(|part| quantile(&times.ms, part));
        let Times { ms, missing } = times;
        format!(
            "p50 {p50:.0} p99 {p99:.0} ms of {}, {missing} missing",
            ms.len()
        )
    };
    for (which, part) in [("p50", 0.5), ("p99", 0.99)] {
        let ratio = quantile(&beside.ms, part) / quantile(&healthy.ms, part);
        report.add(Line {
            what: format!("{count} webhooks of which a third hangs: {which} of the others"),
            ours: shown(&beside),
            bare: format!("none hangs: {}", shown(&healthy)),
            figure: ratio,
            shown: format!("× {ratio:.2}"),
            budget: Budget::None,
        });
    }
    Ok(())
}

/// Milliseconds from each event to each webhook that answers.
struct Times {
    ms: Vec<f64>,
    missing: usize,
}

async fn deliveries(binary: &Path, count: usize, hangs: impl Fn(usize) -> bool) -> Result<Times> {
    let mut receiver = Receiver::start_on_all_addresses().await?;
    let mut node = Node::start(binary, &FLAGS).await?;
    let component = node.api.save(TELLS).await?;
    let source = node.api.deploy(&component).await?;
    let port = receiver.address().port();
    let urls = (0..count).map(|number| {
        let [high, low] = [number / 250, number % 250 + 1];
        let path = if hangs(number) { "/hang" } else { "/" };
        format!("http://127.1.{high}.{low}:{port}{path}")
    });
    subscribe_all(&node, &source.id, urls.collect()).await?;
    let answering = (0..count).filter(|number| !hangs(*number)).count();
    let path = format!("/v1/sources/{}/run", source.id);
    let run = json!({ "event": Value::Null });
    for _ in 0..WARM_UP + EVENTS {
        let begun = Instant::now();
        node.api.call("POST", &path, &run).await?;
        tokio::time::sleep(PAUSE.saturating_sub(begun.elapsed())).await;
    }
    let mut ms = Vec::new();
    let expected = answering * (WARM_UP + EVENTS);
    let until = Instant::now() + PATIENCE;
    while ms.len() < expected {
        let next = tokio::time::timeout_at(until.into(), receiver.next()).await;
        let Ok(arrival) = next else {
            break;
        };
        let arrival = arrival?;
        let event: Value = serde_json::from_slice(&arrival.body)?;
        ms.push(arrival.at_ms - event["at"].as_f64().context("an event without its time")?);
    }
    let missing = expected - ms.len();
    // Arrivals of the first event come first, but for those that are late.
    let mut ms = ms.split_off((answering * WARM_UP).min(ms.len()));
    ms.extend(std::iter::repeat_n(PATIENCE.as_secs_f64() * 1e3, missing));
    Ok(Times { ms, missing })
}
