//! The web UI on a node with much on it: time to the first byte and weight of its pages, weight of what pages are made
//! of, and the cost of tabs that nobody looks at.

use std::{
    net::SocketAddr,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use tokio::{io::AsyncWriteExt as _, net::TcpStream};

use crate::{
    node::{API_KEY, Node, Source},
    receiver::Receiver,
    report::{Budget, Line, Report},
    statistics::{median, quantile},
    wire::Connection,
};

const COMPONENT: &str = r#"export default {
  name: "Shows", version: "0.0.1", props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 86400 } } },
  run({ count = 0, bytes = 0 }) {
    for (let n = 0; n < count; n++) this.$emit({ n, customer: "somebody", total: 12.5 }, { summary: `Order ${n}` });
    if (bytes) this.$emit({ rows: Array.from({ length: bytes / 1024 }, (_, n) => ({ n, text: "x".repeat(1000) })) }, { summary: "large" });
  },
};"#;
const SOURCES: usize = 1_000;
const DEPLOYERS: usize = 8;
/// Deliveries, and those of one run.
const DELIVERIES: usize = 100_000;
const OF_A_RUN: usize = 1_000;
const REQUESTS: usize = 300;
const LARGE_BYTES: usize = 10 * 1_024 * 1_024;
const TABS: usize = 100;
/// Streams that one session may have.
const OF_A_SESSION: usize = 16;
const REST: Duration = Duration::from_secs(5);
/// How long idle tabs are watched.
const WATCHED: Duration = Duration::from_secs(30);

/// A browser without a window: a session, and a connection.
struct Browser {
    address: SocketAddr,
    cookie: String,
    connection: Connection,
}

/// A page as it came.
struct Opened {
    /// Compressed, as browsers get it.
    bytes: usize,
    ms: f64,
}

pub(super) async fn run(binary: &Path, report: &mut Report) -> Result<()> {
    let mut receiver = Receiver::start().await?;
    let flags = ["--allow-private-network=127.0.0.0/8"];
    let mut node = Node::start(binary, &flags).await?;
    let source = fill(&mut node, &mut receiver).await?;
    let mut browser = Browser::sign_in(node.address()).await?;
    for (name, path, most_ms, text) in [
        ("home", "/".to_owned(), 20.0, "20 ms"),
        ("50 sources", "/sources".to_owned(), 10.0, "10 ms"),
        (
            "50 events",
            format!("/sources/{}", source.id),
            10.0,
            "10 ms",
        ),
        (
            "50 deliveries",
            "/deliveries?state=delivered".to_owned(),
            10.0,
            "10 ms",
        ),
    ] {
        page(
            &mut browser,
            report,
            name,
            &path,
            Budget::AtMost(most_ms, text),
        )
        .await?;
    }
    large_event(&mut node, &mut browser, &source, report).await?;
    parts(&mut browser, report).await?;
    tabs(&node, &source, report).await
}

/// Sources, and deliveries of one of them, which has a webhook.
async fn fill(node: &mut Node, receiver: &mut Receiver) -> Result<Source> {
    let component = node.api.save(COMPONENT).await?;
    let mut deployers = tokio::task::JoinSet::new();
    for _ in 0..DEPLOYERS {
        let (mut api, component) = (node.connect().await?, component.clone());
        deployers.spawn(async move {
            for _ in 0..SOURCES / DEPLOYERS {
                api.deploy(&component).await?;
            }
            anyhow::Ok(())
        });
    }
    while let Some(joined) = deployers.join_next().await {
        joined??;
    }
    let source = node.api.deploy(&component).await?;
    let webhook = json!({ "url": receiver.url("/"), "ordering": "none" });
    let webhook = node.api.call("POST", "/v1/webhooks", &webhook).await?;
    let subscription = json!({ "emitter_id": source.id, "listener_id": webhook["id"] });
    node.api
        .call("POST", "/v1/subscriptions", &subscription)
        .await?;
    let run = format!("/v1/sources/{}/run", source.id);
    for at in 1..=DELIVERIES / OF_A_RUN {
        let event = json!({ "event": { "count": OF_A_RUN } });
        node.api.call("POST", &run, &event).await?;
        receiver.until(at * OF_A_RUN).await?;
    }
    Ok(source)
}

async fn page(
    browser: &mut Browser,
    report: &mut Report,
    name: &str,
    path: &str,
    budget: Budget,
) -> Result<()> {
    let mut times = Vec::with_capacity(REQUESTS);
    let mut bytes = 0;
    for _ in 0..REQUESTS {
        let opened = browser.open(path).await?;
        bytes = opened.bytes;
        times.push(opened.ms);
    }
    let (p50, p99) = (median(&times), quantile(&times, 0.99));
    add(
        report,
        format!("{name}: until the page is there, p50"),
        p50,
        format!("{p50:.1} ms"),
        budget,
    );
    add(
        report,
        format!("{name}: the same, p99"),
        p99,
        format!("{p99:.1} ms"),
        Budget::AtMost(60.0, "60 ms"),
    );
    let kib = bytes as f64 / 1_024.0;
    let shown = format!("{kib:.1} KiB");
    let budget = Budget::AtMost(30.0, "30 KiB");
    add(
        report,
        format!("{name}: HTML, compressed"),
        kib,
        shown,
        budget,
    );
    Ok(())
}

async fn large_event(
    node: &mut Node,
    browser: &mut Browser,
    source: &Source,
    report: &mut Report,
) -> Result<()> {
    let run = format!("/v1/sources/{}/run", source.id);
    let event = json!({ "event": { "bytes": LARGE_BYTES } });
    node.api.call("POST", &run, &event).await?;
    let newest = format!("/v1/sources/{}/event_summaries?limit=1", source.id);
    let newest = node.api.call("GET", &newest, &json!(null)).await?;
    let id = newest[0]["id"].as_str().context("the event has an id")?;
    let path = format!("/sources/{}/events/{id}", source.id);
    let mut times = Vec::new();
    for _ in 0..20 {
        times.push(browser.open(&path).await?.ms);
    }
    let p50 = median(&times);
    let budget = Budget::AtMost(200.0, "200 ms");
    let what = "an event of 10 MiB: until the page is there, p50".to_owned();
    add(report, what, p50, format!("{p50:.0} ms"), budget);
    let kib = browser.plain(&path).await? as f64 / 1_024.0;
    let budget = Budget::AtMost(100.0, "100 KiB");
    let what = "the same: HTML, not compressed".to_owned();
    add(report, what, kib, format!("{kib:.0} KiB"), budget);
    Ok(())
}

/// The files that a page needs besides itself, and how many there are.
async fn parts(browser: &mut Browser, report: &mut Report) -> Result<()> {
    let (_, body) = browser.get("/sources", "").await?;
    let html = String::from_utf8(body)?;
    let mut requests = 1;
    for part in html.split('"').filter(|part| part.starts_with("/assets/")) {
        requests += 1;
        let (_, file) = browser.get(part, "accept-encoding: gzip\r\n").await?;
        let name = part.rsplit('/').next().unwrap_or_default();
        let kib = file.len() as f64 / 1_024.0;
        let budget = match name.ends_with(".css") {
            true => Budget::AtMost(12.0, "12 KiB"),
            false => Budget::AtMost(15.0, "15 KiB"),
        };
        add(
            report,
            format!("{name}, compressed"),
            kib,
            format!("{kib:.1} KiB"),
            budget,
        );
    }
    let what = "requests of a page that a browser opens first; later 1".to_owned();
    let budget = Budget::AtMost(4.0, "4");
    add(
        report,
        what,
        f64::from(requests),
        requests.to_string(),
        budget,
    );
    Ok(())
}

/// Tabs that follow a source on which nothing happens.
async fn tabs(node: &Node, source: &Source, report: &mut Report) -> Result<()> {
    tokio::time::sleep(REST).await;
    let without = node.process().resident_bytes();
    let mut streams = Vec::new();
    let mut browser = Browser::sign_in(node.address()).await?;
    for at in 0..TABS {
        if at > 0 && at % OF_A_SESSION == 0 {
            browser = Browser::sign_in(node.address()).await?;
        }
        streams.push(browser.follow(&source.id).await?);
    }
    tokio::time::sleep(REST).await;
    let with = node.process().resident_bytes();
    let (cpu, begun) = (node.process().cpu_seconds(), Instant::now());
    tokio::time::sleep(WATCHED).await;
    let cpu = node.process().cpu_seconds() - cpu;
    let share = cpu / begun.elapsed().as_secs_f64() * 100.0;
    let kib = with.saturating_sub(without) as f64 / 1_024.0 / TABS as f64;
    let budget = Budget::AtMost(2.0, "2 % of a core");
    let what = format!("{TABS} open tabs without events: CPU of the node");
    add(report, what, share, format!("{share:.2} %"), budget);
    let budget = Budget::AtMost(64.0, "64 KiB");
    add(
        report,
        "the same: memory each".to_owned(),
        kib,
        format!("{kib:.1} KiB"),
        budget,
    );
    drop(streams);
    Ok(())
}

fn add(report: &mut Report, what: String, figure: f64, shown: String, budget: Budget) {
    report.add(Line {
        what,
        ours: String::new(),
        bare: String::new(),
        figure,
        shown,
        budget,
    });
}

impl Browser {
    async fn sign_in(address: SocketAddr) -> Result<Self> {
        let mut connection = Connection::open(address).await?;
        let body = format!("key={API_KEY}&next=%2F");
        let request = format!(
            "POST /signin HTTP/1.1\r\nhost: {address}\r\nsec-fetch-site: same-origin\r\n\
             content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let (status, _) = connection.exchange(request.as_bytes()).await?;
        let cookie = connection.header("set-cookie").unwrap_or_default();
        let cookie = cookie.split(';').next().unwrap_or_default().to_owned();
        if status != 303 || cookie.is_empty() {
            bail!("signing in was answered with {status}");
        }
        Ok(Self {
            address,
            cookie,
            connection,
        })
    }

    fn request(&self, path: &str, headers: &str) -> String {
        format!(
            "GET {path} HTTP/1.1\r\nhost: {}\r\naccept: text/html\r\nsec-fetch-site: same-origin\r\ncookie: {}\r\n{headers}\r\n",
            self.address, self.cookie
        )
    }

    async fn get(&mut self, path: &str, headers: &str) -> Result<(u16, Vec<u8>)> {
        let request = self.request(path, headers);
        let (status, body) = self.connection.exchange(request.as_bytes()).await?;
        if status != 200 {
            bail!("{path} was answered with {status}");
        }
        Ok((status, body.to_vec()))
    }

    /// Opens a page as browsers do.
    async fn open(&mut self, path: &str) -> Result<Opened> {
        let begun = Instant::now();
        let (_, body) = self.get(path, "accept-encoding: gzip\r\n").await?;
        Ok(Opened {
            bytes: body.len(),
            ms: begun.elapsed().as_secs_f64() * 1e3,
        })
    }

    /// The bytes of a page that is not compressed.
    async fn plain(&mut self, path: &str) -> Result<usize> {
        let (_, body) = self.get(path, "").await?;
        Ok(body.len())
    }

    /// A connection on which a page's stream has begun.
    async fn follow(&self, source: &str) -> Result<TcpStream> {
        let request = self.request(&format!("/live?of=source:{source}"), "");
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(request.as_bytes()).await?;
        Ok(stream)
    }
}
