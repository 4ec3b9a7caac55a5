//! A node's place among the members of its cluster: says that it lives, and learns how the others see it.

use std::{sync::Arc, time::Duration};

use headwater_store::{NodeName, StoreError};
use headwater_store_postgres::{Joined, PostgresStore};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::{address::NodeAddress, door::Door};

/// The time between two words: a quarter of the silence after which a member counts as lost.
const EVERY: Duration = Duration::from_secs(2);

/// The membership of this node.
pub(super) struct Membership {
    itself: Arc<Itself>,
    telling: AbortOnDropHandle<()>,
}

/// The node as it tells the others of itself.
pub(super) struct Itself {
    database: Arc<PostgresStore>,
    name: NodeName,
    address: String,
    door: Door,
    seen: watch::Sender<Joined>,
}

impl Membership {
    /// Joins the cluster, and stays in it until the end.
    pub(super) fn begin(
        database: Arc<PostgresStore>,
        name: NodeName,
        address: &NodeAddress,
        door: Door,
    ) -> Self {
        let itself = Arc::new(Itself {
            database,
            name,
            address: address.to_string(),
            door,
            seen: watch::Sender::default(),
        });
        let telling = tokio::spawn(tell_again(Arc::clone(&itself)));
        Self {
            itself,
            telling: AbortOnDropHandle::new(telling),
        }
    }

    /// The node, to tell of it besides.
    pub(super) fn itself(&self) -> Arc<Itself> {
        Arc::clone(&self.itself)
    }

    /// Leaves the cluster.
    pub(super) async fn end(self) {
        self.telling.abort();
        let left = self.itself.database.leave(&self.itself.name).await;
        if let Err(error) = left {
            tracing::warn!(%error, "cannot leave the cluster; the other nodes see this one as lost");
        }
    }
}

impl Itself {
    /// The way in which the others see the node.
    pub(super) fn seen(&self) -> watch::Receiver<Joined> {
        self.seen.subscribe()
    }

    /// Says that the node lives, and learns how it is seen.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub(super) async fn tell(&self) -> Result<(), StoreError> {
        let version = env!("CARGO_PKG_VERSION");
        let joined = self.database.join(&self.name, &self.address, version);
        let joined = joined.await?;
        self.door.set_draining(joined.is_draining);
        self.seen.send_replace(joined);
        Ok(())
    }
}

async fn tell_again(itself: Arc<Itself>) {
    let mut is_known = false;
    loop {
        let told = async {
            // A new database has no members before its first node leads.
            is_known = is_known || itself.database.knows_members().await?;
            match is_known {
                true => itself.tell().await,
                false => Ok(()),
            }
        };
        if let Err(error) = told.await {
            let error = error.in_full();
            tracing::warn!(error, "cannot tell the cluster that this node lives");
        }
        tokio::time::sleep(EVERY).await;
    }
}
