//! A node's place among the members of its cluster: says that it lives and whether it could take over, and learns how the
//! others see it.

use std::{path::PathBuf, sync::Arc, time::Duration};

use headwater_store::{NodeName, StoreError};
use headwater_store_postgres::{Joined, Joining, PostgresStore};
use parking_lot::Mutex;
use tokio::{sync::watch, time::Instant};
use tokio_util::task::AbortOnDropHandle;

use super::{address::NodeAddress, door::Door};

/// The time between two words: a quarter of the silence after which a member counts as lost.
const EVERY: Duration = Duration::from_secs(2);
/// The file by which a node finds out whether its data folder has room, and its size: that of a small component.
const PROBE: &str = "room";
const PROBE_BYTES: usize = 256 * 1024;

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
    /// The folder that a node that leads has to write to.
    cache: PathBuf,
    seen: watch::Sender<Joined>,
    /// The end of the time for which it has withdrawn, because it failed to take over.
    withdrawn_until: Mutex<Option<Instant>>,
    /// The obstacle to taking over that was told of last.
    told: Mutex<Option<String>>,
}

impl Membership {
    /// Joins the cluster, and stays in it until the end.
    pub(super) fn begin(itself: Itself) -> Self {
        let itself = Arc::new(itself);
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
    pub(super) fn new(
        database: Arc<PostgresStore>,
        name: NodeName,
        address: &NodeAddress,
        door: Door,
        cache: PathBuf,
    ) -> Self {
        Self {
            database,
            name,
            address: address.to_string(),
            door,
            cache,
            seen: watch::Sender::default(),
            withdrawn_until: Mutex::default(),
            told: Mutex::default(),
        }
    }

    /// The way in which the others see the node.
    pub(super) fn seen(&self) -> watch::Receiver<Joined> {
        self.seen.subscribe()
    }

    /// Whether another node could take over.
    pub(super) fn has_successor(&self) -> bool {
        self.seen.borrow().has_successor
    }

    /// Says that the node lives, and learns how it is seen.
    ///
    /// # Errors
    /// The database cannot be reached.
    pub(super) async fn tell(&self) -> Result<(), StoreError> {
        let can_lead = self.can_lead().await?;
        let joined = self.database.join(Joining {
            name: &self.name,
            address: &self.address,
            version: env!("CARGO_PKG_VERSION"),
            can_lead,
        });
        let joined = joined.await?;
        self.door.set_draining(joined.is_draining);
        self.seen.send_replace(joined);
        Ok(())
    }

    /// Takes no work over for a time, so that nobody counts on it.
    pub(super) async fn withdraw(&self, time: Duration) {
        *self.withdrawn_until.lock() = Some(Instant::now() + time);
        if let Err(error) = self.tell().await {
            let error = error.in_full();
            tracing::warn!(
                error,
                "cannot tell the cluster that this node cannot take over"
            );
        }
    }

    /// Whether it has withdrawn.
    pub(super) fn is_withdrawn(&self) -> bool {
        let until = *self.withdrawn_until.lock();
        until.is_some_and(|until| Instant::now() < until)
    }

    /// Whether it could take over, as far as can be seen without trying.
    async fn can_lead(&self) -> Result<bool, StoreError> {
        let obstacle = match self.database.knows_schema().await {
            Err(StoreError::Unsupported(reason)) => Some(reason),
            known => {
                known?;
                self.full_folder().await
            }
        };
        let can_lead = obstacle.is_none() && !self.is_withdrawn();
        let mut told = self.told.lock();
        if let Some(reason) = obstacle
            .as_ref()
            .filter(|reason| told.as_ref() != Some(reason))
        {
            tracing::warn!("this node could not take over: {reason}");
        }
        *told = obstacle;
        Ok(can_lead)
    }

    /// The reason for which its data folder cannot be written.
    async fn full_folder(&self) -> Option<String> {
        let cache = self.cache.clone();
        let written = tokio::task::spawn_blocking(move || {
            std::fs::create_dir_all(&cache)?;
            let probe = cache.join(PROBE);
            let written = std::fs::write(&probe, vec![0; PROBE_BYTES]);
            // Another look at the same time may have removed it.
            let _ = std::fs::remove_file(&probe);
            written
        });
        let error = written
            .await
            .map_err(std::io::Error::other)
            .flatten()
            .err()?;
        let folder = self.cache.display();
        Some(format!(
            "cannot write {folder} ({error}); make room on its disk"
        ))
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
