//! Nodes of a cluster: several on one database.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use crate::{
    certificate::CertificateFiles,
    client::Client,
    database::Database,
    node::{Node, NodeBuilder},
};

/// The secret of the cluster.
pub const CLUSTER_SECRET: &str = "secret-of-the-clusters-of-the-tests";
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(50);

impl NodeBuilder {
    /// Is a node of the cluster on that database.
    #[must_use]
    pub fn of_cluster(self, database: &Arc<Database>) -> Self {
        let builder = self.own_address().at_a_port_of_its_own();
        let address = format!("http://{}", builder.listens_at());
        builder
            .database(database)
            .env("HEADWATER_CLUSTER_SECRET", CLUSTER_SECRET)
            .env("HEADWATER_NODE_ADDRESS", &address)
    }
}

impl NodeBuilder {
    /// The same, with HTTPS between the nodes and for clients. The files have to stay as long as the node.
    #[must_use]
    pub fn of_encrypted_cluster(self, database: &Arc<Database>) -> (Self, CertificateFiles) {
        let builder = self.of_cluster(database);
        let address = builder.listens_at();
        let files = CertificateFiles::of(&[&address.ip().to_string()]);
        let builder = builder
            .encrypted(&files)
            .flag(&format!("--ca-certificate={}", files.authority().display()))
            .env("HEADWATER_NODE_ADDRESS", &format!("https://{address}"));
        (builder, files)
    }
}

impl Client {
    /// The nodes of its cluster.
    pub async fn nodes(&self) -> Vec<Value> {
        let nodes = self.get("/nodes").await.is(200).data();
        nodes.as_array().expect("a list of nodes").clone()
    }
}

impl Node {
    /// Its id in the cluster.
    pub fn id(&self) -> String {
        let id = std::fs::read_to_string(self.data_dir().join("node-id"));
        id.expect("a node of a cluster has an id").trim().to_owned()
    }

    /// The node as the cluster sees it; null if it knows nothing of it yet.
    pub async fn seen(&self) -> Value {
        let nodes = self.nodes().await;
        let itself = nodes.into_iter().find(|node| node["id"] == self.id());
        itself.unwrap_or_default()
    }

    /// Waits until the cluster sees it in that part.
    pub async fn until_it(&self, part: &str) {
        self.until(|seen| seen["part"] == part).await;
    }

    /// Waits until the cluster sees it so.
    pub async fn until(&self, is_so: impl Fn(&Value) -> bool) {
        while !is_so(&self.seen().await) {
            tokio::time::sleep(PAUSE).await;
        }
    }
}
