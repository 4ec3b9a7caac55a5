//! The cost of readers of one source's stream, and the time after which they have its events.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Result, bail};
use serde_json::json;
use tokio::{io::AsyncReadExt as _, net::TcpStream, sync::Notify, task::JoinSet};

use crate::{
    node::{Node, Source},
    report::{Budget, Line, Report},
    statistics::{median, quantile},
};

const COMPONENT: &str = r#"export default {
  name: "Tells", version: "0.0.1",
  run({ count }) { for (let n = 0; n < count; n++) this.$emit({ n, at_ms: Date.now() }); },
};"#;
const READERS: usize = 2000;
const ROUNDS: usize = 40;
const BURST: usize = 100;
/// Before each message's data.
const DATA: &[u8] = b"\ndata: ";
const REST: Duration = Duration::from_secs(3);
const PATIENCE: Duration = Duration::from_secs(60);

/// Messages that readers have got.
#[derive(Default)]
struct Count {
    got: AtomicUsize,
    wanted: AtomicUsize,
    reached: Notify,
}

impl Count {
    fn add(&self, messages: usize) {
        let got = self.got.fetch_add(messages, Ordering::Relaxed) + messages;
        if messages > 0 && got == self.wanted.load(Ordering::Relaxed) {
            self.reached.notify_one();
        }
    }
}

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    let mut node = Node::start(binary, &[]).await?;
    let component = node.api.save(COMPONENT).await?;
    let source = node.api.deploy(&component).await?;
    // The worker is there from now on.
    emit(&mut node, &source, 1).await?;
    tokio::time::sleep(REST).await;
    let without = node.process().resident_bytes();
    let count = Arc::new(Count::default());
    let _readers = open(&node, &source, &count).await?;
    tokio::time::sleep(REST).await;
    let with = node.process().resident_bytes();
    let per_reader = with.saturating_sub(without) as f64 / READERS as f64 / 1024.0;
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        times.push(round(&mut node, &source, &count, 1).await?.since_emit_ms);
    }
    let burst = round(&mut node, &source, &count, BURST).await?;
    let rate = (READERS * BURST) as f64 / burst.took.as_secs_f64();
    for (what, figure, shown) in [
        (
            format!("memory per idle reader, {READERS} readers of one source"),
            per_reader,
            format!("{per_reader:.1} KiB"),
        ),
        (
            format!("emit to the last of {READERS} readers, p50 and p95"),
            median(&times),
            format!("{:.0} and {:.0} ms", median(&times), quantile(&times, 0.95)),
        ),
        (
            format!("{BURST} events of one run to {READERS} readers"),
            rate,
            format!("{rate:.0} messages/s"),
        ),
    ] {
        let (ours, bare) = (String::new(), String::new());
        report.add(Line {
            what,
            ours,
            bare,
            figure,
            shown,
            budget: Budget::None,
        });
    }
    Ok(())
}

struct Round {
    /// From `Date.now()` beside `$emit`, in whole milliseconds of the wall clock.
    since_emit_ms: f64,
    /// From the request to run on.
    took: Duration,
}

/// One run that emits so many events, until every reader has them.
async fn round(node: &mut Node, source: &Source, count: &Count, events: usize) -> Result<Round> {
    let before = count.got.load(Ordering::Relaxed);
    count
        .wanted
        .store(before + events * READERS, Ordering::Relaxed);
    let begun = Instant::now();
    let all_have_it = async {
        let reached = tokio::time::timeout(PATIENCE, count.reached.notified()).await;
        reached.map(|()| (now_ms(), begun.elapsed()))
    };
    let (emitted, reached) = tokio::join!(emit(node, source, events), all_have_it);
    emitted?;
    let Ok((at_ms, took)) = reached else {
        let got = count.got.load(Ordering::Relaxed) - before;
        bail!("only {got} of {} messages came", events * READERS);
    };
    let path = format!("/v1/sources/{}/event_summaries?limit=1", source.id);
    let newest = node.api.call("GET", &path, &json!(null)).await?;
    let emitted_at_ms = newest[0]["event"]["at_ms"].as_f64().unwrap_or_default();
    Ok(Round {
        since_emit_ms: at_ms - emitted_at_ms,
        took,
    })
}

fn now_ms() -> f64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.unwrap_or_default().as_secs_f64() * 1e3
}

async fn emit(node: &mut Node, source: &Source, count: usize) -> Result<()> {
    let path = format!("/v1/sources/{}/run", source.id);
    let body = json!({ "event": { "count": count } });
    node.api.call("POST", &path, &body).await.map(drop)
}

/// Readers that count what they get, each with its handshake.
async fn open(node: &Node, source: &Source, count: &Arc<Count>) -> Result<JoinSet<()>> {
    let path = format!("/v1/sources/{}/sse", source.id);
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let mut stream = node.stream(&path).await?;
        let mut head = Vec::new();
        while !head.ends_with(b":sse-handshake\n\n\r\n") {
            if stream.read_buf(&mut head).await? == 0 {
                bail!("no stream: {}", String::from_utf8_lossy(&head));
            }
        }
        readers.spawn(read(stream, Arc::clone(count)));
    }
    Ok(readers)
}

async fn read(mut stream: TcpStream, count: Arc<Count>) {
    let mut unread = Vec::new();
    while stream
        .read_buf(&mut unread)
        .await
        .is_ok_and(|read| read > 0)
    {
        let messages = unread.windows(DATA.len()).filter(|bytes| *bytes == DATA);
        count.add(messages.count());
        // A possible beginning of the next one stays.
        let kept = unread.len().saturating_sub(DATA.len() - 1);
        unread.drain(..kept);
    }
}
