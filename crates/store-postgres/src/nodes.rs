//! Nodes behind the trait: their epochs and lives.

use async_trait::async_trait;
use headwater_model::{id::RunnableId, time::EpochMs};
use headwater_store::{Conflict, NodeEpoch, NodeName, Nodes, RunnableLease, StoreError};

use crate::{
    connection::{Connection, failed},
    emitters, living, marks, migration,
    row::signed,
    store::PostgresStore,
};

/// Rows that an epoch may hold.
const LEASED: [&str; 3] = [
    "invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL WHERE",
    "deliveries SET lease_epoch = NULL, lease_expires_at_ms = NULL WHERE state = 'pending' AND",
    "sends SET lease_epoch = NULL, lease_expires_at_ms = NULL WHERE state = 'pending' AND",
];

#[async_trait]
impl Nodes for PostgresStore {
    async fn start_node(&self, name: &NodeName, now_ms: EpochMs) -> Result<NodeEpoch, StoreError> {
        let is_for_one = self.is_for_one;
        let started = self.write(|connection| async move {
            if is_for_one {
                begin_alone(&connection, name, now_ms).await?;
            }
            start(&connection, name, now_ms).await
        });
        let epoch = started.await?;
        // A newer node may have brought the schema up to date at this moment, when it saw nobody.
        let known = self.read(|connection| async move { migration::known(&connection).await });
        if let Err(error) = known.await {
            self.stop_node(epoch).await?;
            return Err(error);
        }
        let forget =
            self.write_locking(|connection| async move { marks::forget_old(&connection).await });
        if let Err(error) = forget.await {
            tracing::warn!(
                error = error.in_full(),
                "cannot forget marks of former nodes"
            );
        }
        Ok(epoch)
    }

    async fn heartbeat(&self, epoch: NodeEpoch, now_ms: EpochMs) -> Result<(), StoreError> {
        self.beat(|connection| async move { living::heartbeat(&connection, epoch, now_ms).await })
            .await
    }

    async fn stop_node(&self, epoch: NodeEpoch) -> Result<(), StoreError> {
        self.write(|connection| async move { stop(&connection, epoch).await })
            .await
    }

    async fn lease_runnable(
        &self,
        runnable: &RunnableId,
        epoch: NodeEpoch,
        now_ms: EpochMs,
    ) -> Result<RunnableLease, StoreError> {
        self.write_locking(|connection| async move {
            emitters::lease(&connection, runnable, epoch, now_ms).await
        })
        .await
    }

    async fn release_runnable(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        self.write_locking(|connection| async move { emitters::release(&connection, lease).await })
            .await
    }
}

/// Makes sure that no other node lives, or comes back to life.
async fn begin_alone(
    connection: &Connection,
    name: &NodeName,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let others = living::others(connection, name, now_ms).await?;
    match others.first() {
        Some(other) => {
            let by = NodeEpoch(other.unsigned_abs());
            Err(Conflict::Held { by }.into())
        }
        None => living::declare_others_dead(connection, name).await,
    }
}

/// Counts the start, and frees everything that is not leased to a living epoch.
async fn start(
    connection: &Connection,
    name: &NodeName,
    now_ms: EpochMs,
) -> Result<NodeEpoch, StoreError> {
    let others = living::others(connection, name, now_ms).await?;
    for queue in LEASED {
        let sql = format!("UPDATE {queue} lease_epoch IS NOT NULL AND lease_epoch <> ALL($1)");
        let freed = connection.execute(&sql, &[&others]).await;
        freed.map_err(failed("starting the node"))?;
    }
    living::begin(connection, name, now_ms).await
}

/// Frees the epoch's leases of invocations, deliveries and sends. Its runnables are free because it is not alive.
async fn stop(connection: &Connection, epoch: NodeEpoch) -> Result<(), StoreError> {
    let failed = failed("stopping the node");
    connection
        .execute(
            "UPDATE invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + 1
             WHERE lease_epoch = $1",
            &[&signed(epoch.0)],
        )
        .await
        .map_err(&failed)?;
    for waiting in ["deliveries", "sends"] {
        let sql = format!(
            "UPDATE {waiting} SET lease_epoch = NULL, lease_expires_at_ms = NULL
             WHERE state = 'pending' AND lease_epoch = $1"
        );
        let freed = connection.execute(&sql, &[&signed(epoch.0)]).await;
        freed.map_err(&failed)?;
    }
    living::end(connection, epoch).await
}
