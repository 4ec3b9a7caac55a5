//! The kinds of abuse, from outside and from a tenant's own components. Their effect on others is measured elsewhere.

use std::{net::SocketAddr, time::Duration};

use anyhow::Result;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt as _, net::TcpStream, task::JoinSet};

use crate::node::{Api, Node, Source};

const MIB: usize = 1024 * 1024;
/// Of what the node may have open where connections are held.
const DESCRIPTORS: u32 = 512;
/// After the server has ended a connection that was to be held.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

/// One of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Attack {
    UnfinishedBodies,
    HalfHeads,
    LargeMaps,
    Builds,
    EventBomb,
    Timers,
    EndlessLoops,
}

impl Attack {
    pub(super) const ALL: [Self; 7] = [
        Self::UnfinishedBodies,
        Self::HalfHeads,
        Self::LargeMaps,
        Self::Builds,
        Self::EventBomb,
        Self::Timers,
        Self::EndlessLoops,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::UnfinishedBodies => "64 unfinished bodies of 10 MiB, no key",
            Self::HalfHeads => "600 half heads, no key, at 512 descriptors",
            Self::LargeMaps => {
                "3 sources with 190 MB in their key-value maps, started again and again"
            }
            Self::Builds => "6 components that compute for 9 s while they are saved",
            Self::EventBomb => "4 sources that answer each event of theirs with five",
            Self::Timers => "40 timers of 1 s",
            Self::EndlessLoops => "12 endless loops",
        }
    }

    /// How many descriptors the node may have, if that matters.
    pub(super) fn descriptors(self) -> Option<u32> {
        matches!(self, Self::HalfHeads).then_some(DESCRIPTORS)
    }

    /// Flags of the node.
    pub(super) fn flags(self) -> &'static [&'static str] {
        match self {
            // Workers are to be started again soon.
            Self::LargeMaps => &["--worker-idle", "500ms"],
            _ => &[],
        }
    }

    /// Begins it; it goes on until the tasks are dropped.
    pub(super) async fn begin(self, node: &Node, abuser: &mut Api) -> Result<JoinSet<()>> {
        let mut tasks = JoinSet::new();
        let address = node.address();
        match self {
            Self::UnfinishedBodies => {
                for _ in 0..64 {
                    tasks.spawn(unfinished_body(address));
                }
            }
            Self::HalfHeads => {
                for _ in 0..600 {
                    tasks.spawn(half_head(address));
                }
            }
            Self::LargeMaps => large_maps(abuser, &mut tasks).await?,
            Self::Builds => {
                for number in 0..6 {
                    tasks.spawn(builds(abuser.again().await?, number));
                }
            }
            Self::EventBomb => event_bomb(abuser).await?,
            Self::Timers => timers(abuser).await?,
            Self::EndlessLoops => endless_loops(abuser, address).await?,
        }
        Ok(tasks)
    }
}

/// Held for as long as the server lets it; a new one then.
async fn unfinished_body(address: SocketAddr) {
    let announced = 10 * MIB;
    let head = format!(
        "POST /e/nosuchtoken HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
         content-length: {announced}\r\n\r\n"
    );
    Box::pin(held(address, head.as_bytes(), announced - 1)).await;
}

async fn half_head(address: SocketAddr) {
    Box::pin(held(address, b"GET / HTTP/1.1\r\nhost: half\r\nx: ", 0)).await;
}

/// Sends a head and so many bytes on a connection and keeps it until the server ends it, again and again.
async fn held(address: SocketAddr, head: &[u8], bytes: usize) {
    let block = [b'x'; 16 * 1024];
    loop {
        let hold = async {
            let mut stream = TcpStream::connect(address).await?;
            stream.write_all(head).await?;
            let mut left = bytes;
            while left > 0 {
                let part = left.min(block.len());
                stream.write_all(&block[..part]).await?;
                left -= part;
            }
            // Answers are read, so that the connection's end is seen.
            tokio::io::copy(&mut stream, &mut tokio::io::sink()).await
        };
        let _ = hold.await;
        tokio::time::sleep(AGAIN_AFTER).await;
    }
}

/// Filled run by run, then started whenever their workers have been evicted.
async fn large_maps(abuser: &mut Api, tasks: &mut JoinSet<()>) -> Result<()> {
    let code = r#"export default {
      name: "Hoards", version: "0.0.1", props: { db: "$.service.db" },
      run({ key }) { if (key) this.db.set(key, "x".repeat(9_500_000)); },
    };"#;
    let component = abuser.save(code).await?;
    for _ in 0..3 {
        let source = abuser.deploy(&component).await?;
        for number in 0..20 {
            // Refused, or lost with its worker: that is the node's good right.
            let _ = run(abuser, &source, &json!({ "key": format!("key {number}") })).await;
        }
        let mut api = abuser.again().await?;
        tasks.spawn(async move {
            loop {
                let _ = run(&mut api, &source, &json!({})).await;
                tokio::time::sleep(Duration::from_millis(1500)).await;
            }
        });
    }
    Ok(())
}

async fn builds(mut abuser: Api, number: usize) {
    for round in 0.. {
        let code = format!(
            r#"const until = Date.now() + 9000; while (Date.now() < until);
               export default {{ name: "Computes {number} {round}", version: "0.0.1", run() {{}} }};"#
        );
        if abuser.save(&code).await.is_err() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

async fn event_bomb(abuser: &mut Api) -> Result<()> {
    let code = r#"export default {
      name: "Multiplies", version: "0.0.1",
      run() { for (let n = 0; n < 5; n++) this.$emit({ n, text: "x".repeat(1000) }); },
    };"#;
    let component = abuser.save(code).await?;
    let mut sources = Vec::new();
    for _ in 0..4 {
        let source = abuser.deploy(&component).await?;
        let subscription = json!({ "emitter_id": "dc_*", "listener_id": source.id });
        abuser
            .call("POST", "/v1/subscriptions", &subscription)
            .await?;
        sources.push(source);
    }
    run(abuser, &sources[0], &json!({})).await
}

async fn timers(abuser: &mut Api) -> Result<()> {
    let code = r#"export default {
      name: "Ticks", version: "0.0.1",
      props: { timer: { type: "$.interface.timer", default: { intervalSeconds: 1 } } },
      run(event) { this.$emit(event); },
    };"#;
    let component = abuser.save(code).await?;
    for _ in 0..40 {
        abuser.deploy(&component).await?;
    }
    Ok(())
}

async fn endless_loops(abuser: &mut Api, address: SocketAddr) -> Result<()> {
    let code = r#"export default {
      name: "Loops", version: "0.0.1", props: { http: "$.interface.http" },
      run() { for (;;); },
    };"#;
    let component = abuser.save(code).await?;
    for _ in 0..12 {
        let source = abuser.deploy(&component).await?;
        let mut connection = crate::wire::Connection::open(address).await?;
        let request = crate::wire::request("POST", address, &source.path, "", "{}");
        connection.exchange(&request).await?;
    }
    Ok(())
}

async fn run(api: &mut Api, source: &Source, event: &Value) -> Result<()> {
    let path = format!("/v1/sources/{}/run", source.id);
    api.call("POST", &path, &json!({ "event": event }))
        .await
        .map(drop)
}
