//! A node that stands by until another one no longer has its database.

use std::net::SocketAddr;

use crate::node::{Node, NodeBuilder};

/// The text that a node prints while another one has its database.
const STANDING_BY: &str = "standing by";

/// A node that waits for its database.
pub struct StandingBy(Node);

impl NodeBuilder {
    /// Starts it while another one has its database, and waits until it says so.
    pub async fn start_standing_by(self) -> StandingBy {
        let stands_by = |line: &str| {
            let nowhere = SocketAddr::from(([127, 0, 0, 1], 0));
            line.contains(STANDING_BY).then_some(nowhere)
        };
        StandingBy(self.start_until(stands_by).await)
    }
}

impl StandingBy {
    /// The node, as soon as it has the database and serves.
    pub async fn serving(self) -> Node {
        let serving = tokio::task::spawn_blocking(|| self.0.at_the_address_that_it_said());
        serving
            .await
            .unwrap_or_else(|failed| std::panic::resume_unwind(failed.into_panic()))
    }
}
