//! Very many webhooks that subscribe to one source.

use anyhow::Result;

use crate::{
    bench::deliver::subscribe,
    node::{Api, Node},
};

/// Flags of nodes whose webhooks are on this machine.
pub(super) const FLAGS: [&str; 1] = ["--allow-private-network"];
/// Connections over which a node is set up.
const CLERKS: usize = 8;

/// Emits one event a run, and says when.
pub(super) const TELLS: &str = r#"export default {
  name: "Tells", version: "0.0.1", props: { http: "$.interface.http" },
  run() { this.$emit({ at: performance.timeOrigin + performance.now() }); },
};"#;

/// Creates webhooks at these addresses, subscribed to that source.
pub(super) async fn subscribe_all(node: &Node, emitter: &str, urls: Vec<String>) -> Result<()> {
    let mut clerks = tokio::task::JoinSet::new();
    for part in urls.chunks(urls.len().div_ceil(CLERKS).max(1)) {
        let (api, emitter, urls) = (node.connect().await?, emitter.to_owned(), part.to_vec());
        clerks.spawn(subscribe_each(api, emitter, urls));
    }
    while let Some(joined) = clerks.join_next().await {
        joined??;
    }
    Ok(())
}

async fn subscribe_each(mut api: Api, emitter: String, urls: Vec<String>) -> Result<()> {
    for url in urls {
        subscribe(&mut api, &emitter, &url).await?;
    }
    Ok(())
}
