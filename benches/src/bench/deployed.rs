//! A node with one deployed source, as one side of a comparison.

use std::{net::SocketAddr, path::Path};

use anyhow::Result;

use crate::{
    load::Load,
    node::{Node, Source},
    rounds::Side,
    wire,
};

/// The node and its source.
pub(super) struct Deployed {
    node: Node,
    source: Source,
}

impl Deployed {
    /// Starts a node of that build and deploys the code.
    pub(super) async fn start(binary: &Path, code: &str) -> Result<Self> {
        let mut node = Node::start(binary, &[]).await?;
        let component = node.api.save(code).await?;
        let source = node.api.deploy(&component).await?;
        Ok(Self { node, source })
    }

    /// The node under requests to its source.
    pub(super) fn side(&self, connections: usize, body: &str) -> Side<'_> {
        Side {
            process: self.node.process(),
            load: self.load_at(self.node.address(), connections, body),
        }
    }

    /// The same requests to another server.
    pub(super) fn load_at(&self, address: SocketAddr, connections: usize, body: &str) -> Load {
        Load {
            address,
            request: wire::request("POST", address, &self.source.path, "", body),
            connections,
        }
    }
}
