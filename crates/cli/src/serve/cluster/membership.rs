//! A node's place among the members of its cluster: says that it lives, and learns how the others see it.

use std::{sync::Arc, time::Duration};

use headwater_store::NodeName;
use headwater_store_postgres::{Joined, PostgresStore};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::{address::NodeAddress, door::Door};

/// The time between two words: a quarter of the silence after which a member counts as lost.
const EVERY: Duration = Duration::from_secs(2);

/// The membership of this node.
pub(super) struct Membership {
    database: Arc<PostgresStore>,
    name: NodeName,
    seen: watch::Receiver<Joined>,
    telling: AbortOnDropHandle<()>,
}

impl Membership {
    /// Joins the cluster, and stays in it until the end.
    pub(super) fn begin(
        database: Arc<PostgresStore>,
        name: NodeName,
        address: NodeAddress,
        door: Door,
    ) -> Self {
        let (tell, seen) = watch::channel(Joined::default());
        let telling = tell_again(
            (Arc::clone(&database), name.clone(), address),
            door,
            tell,
        );
        Self {
            database,
            name,
            seen,
            telling: AbortOnDropHandle::new(tokio::spawn(telling)),
        }
    }

    /// The way in which the others see it.
    pub(super) fn seen(&self) -> watch::Receiver<Joined> {
        self.seen.clone()
    }

    /// Leaves the cluster.
    pub(super) async fn end(self) {
        self.telling.abort();
        if let Err(error) = self.database.leave(&self.name).await {
            tracing::warn!(%error, "cannot leave the cluster; the other nodes see this one as lost");
        }
    }
}

async fn tell_again(
    (database, name, address): (Arc<PostgresStore>, NodeName, NodeAddress),
    door: Door,
    tell: watch::Sender<Joined>,
) {
    let address = address.to_string();
    let mut is_known = false;
    loop {
        let joined = async {
            // A new database has no members before its first node leads.
            is_known = is_known || database.knows_members().await?;
            match is_known {
                true => database.join(&name, &address, env!("CARGO_PKG_VERSION")).await,
                false => Ok(Joined::default()),
            }
        };
        match joined.await {
            Ok(joined) => {
                door.set_draining(joined.is_draining);
                tell.send_replace(joined);
            }
            Err(error) => tracing::warn!(error = error.in_full(), "cannot tell the cluster that this node lives"),
        }
        tokio::time::sleep(EVERY).await;
    }
}
