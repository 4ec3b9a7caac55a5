//! Nodes behind the trait: their epochs on disk, their lives in memory.

use async_trait::async_trait;
use headwater_model::{id::RunnableId, time::EpochMs};
use headwater_store::{NodeEpoch, NodeName, Nodes, RunnableLease, StoreError};
use rusqlite::Connection;

use crate::{
    connection::{ExecutePrepared as _, failed},
    emitters,
    living::as_json,
    row::signed,
    store::SqliteStore,
};

/// Rows that an epoch may hold.
const LEASED: [&str; 3] = [
    "invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL WHERE",
    "deliveries SET lease_epoch = NULL, lease_expires_at_ms = NULL WHERE state = 'pending' AND",
    "sends SET lease_epoch = NULL, lease_expires_at_ms = NULL WHERE state = 'pending' AND",
];

#[async_trait]
impl Nodes for SqliteStore {
    async fn start_node(&self, name: &NodeName, now_ms: EpochMs) -> Result<NodeEpoch, StoreError> {
        let (living, starting) = (self.living.clone(), name.clone());
        let epoch = self
            .write(move |connection| start(connection, &living.others(&starting, now_ms)))
            .await?;
        self.living.begin(name, epoch, now_ms);
        Ok(epoch)
    }

    async fn heartbeat(&self, epoch: NodeEpoch, now_ms: EpochMs) -> Result<(), StoreError> {
        Ok(self.living.heartbeat(epoch, now_ms)?)
    }

    async fn stop_node(&self, epoch: NodeEpoch) -> Result<(), StoreError> {
        self.write(move |connection| stop(connection, epoch))
            .await?;
        self.living.end(epoch);
        Ok(())
    }

    async fn lease_runnable(
        &self,
        runnable: &RunnableId,
        epoch: NodeEpoch,
        now_ms: EpochMs,
    ) -> Result<RunnableLease, StoreError> {
        let (living, runnable) = (self.living.clone(), runnable.clone());
        self.write(move |connection| emitters::lease(connection, &living, &runnable, epoch, now_ms))
            .await
    }

    async fn release_runnable(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        let lease = lease.clone();
        self.write(move |connection| emitters::release(connection, &lease))
            .await
    }
}

/// Counts the start, and frees everything that is not leased to a living epoch.
fn start(connection: &Connection, others: &[NodeEpoch]) -> Result<NodeEpoch, StoreError> {
    let start = || -> rusqlite::Result<i64> {
        connection.execute_prepared("UPDATE node SET epoch = epoch + 1", ())?;
        for queue in LEASED {
            connection.execute_prepared(
                &format!(
                    "UPDATE {queue} lease_epoch IS NOT NULL
                                    AND lease_epoch NOT IN (SELECT value FROM json_each(?))"
                ),
                [as_json(others)],
            )?;
        }
        connection.query_row("SELECT epoch FROM node", (), |row| row.get(0))
    };
    start()
        .map(|epoch| NodeEpoch(epoch.unsigned_abs()))
        .map_err(failed("starting the node"))
}

/// Frees the epoch's leases of invocations, deliveries and sends. Its runnables are free because it is not alive.
fn stop(connection: &Connection, epoch: NodeEpoch) -> Result<(), StoreError> {
    let failed = failed("stopping the node");
    connection
        .execute_prepared(
            "UPDATE invocations SET lease_epoch = NULL, lease_expires_at_ms = NULL, given_back = given_back + 1
             WHERE lease_epoch = ?",
            [signed(epoch.0)],
        )
        .map_err(&failed)?;
    for waiting in ["deliveries", "sends"] {
        connection
            .execute_prepared(
                &format!(
                    "UPDATE {waiting} SET lease_epoch = NULL, lease_expires_at_ms = NULL
                     WHERE state = 'pending' AND lease_epoch = ?"
                ),
                [signed(epoch.0)],
            )
            .map_err(&failed)?;
    }
    Ok(())
}
