//! The lives of nodes: the last heartbeat of each epoch that has not ended.

use std::time::Duration;

use headwater_model::time::EpochMs;
use headwater_store::{Conflict, NODE_TIMEOUT, NodeEpoch, NodeName, StoreError};

use crate::{
    clock::{self, NOW_MS},
    connection::{Connection, failed},
    row::{get, moment, signed},
    server::APPLICATION,
};

/// The silence after which a node whose address nobody listens at counts as gone: two heartbeats that did not come.
pub(crate) const GONE_AFTER: Duration = Duration::from_secs(3);

/// The last moment at which a heartbeat was too old at `now_ms`.
fn too_old(now_ms: EpochMs) -> i64 {
    signed(now_ms).saturating_sub(millis(NODE_TIMEOUT))
}

pub(crate) fn millis(time: Duration) -> i64 {
    i64::try_from(time.as_millis()).unwrap_or(i64::MAX)
}

/// Begins an epoch larger than every earlier one, and ends the former one of that name.
pub(crate) async fn begin(
    connection: &Connection,
    name: &NodeName,
    now_ms: EpochMs,
) -> Result<NodeEpoch, StoreError> {
    let epoch: i64 = connection
        .value(
            "INSERT INTO nodes (name, epoch, heartbeat_ms) VALUES ($1, nextval('node_epochs'), $2)
             ON CONFLICT (name) DO UPDATE
             SET epoch = excluded.epoch, heartbeat_ms = excluded.heartbeat_ms, is_dead = FALSE
             RETURNING epoch",
            &[&name.as_str(), &signed(now_ms)],
        )
        .await
        .map_err(failed("starting the node"))?;
    Ok(NodeEpoch(epoch.unsigned_abs()))
}

pub(crate) async fn end(connection: &Connection, epoch: NodeEpoch) -> Result<(), StoreError> {
    connection
        .execute("DELETE FROM nodes WHERE epoch = $1", &[&signed(epoch.0)])
        .await
        .map_err(failed("ending a node"))
        .map(drop)
}

/// Keeps the epoch alive, and returns the database's time.
pub(crate) async fn heartbeat(
    connection: &Connection,
    epoch: NodeEpoch,
    now_ms: EpochMs,
) -> Result<EpochMs, StoreError> {
    let kept = format!(
        "UPDATE nodes SET heartbeat_ms = greatest(heartbeat_ms, $2) WHERE epoch = $1 AND NOT is_dead
         RETURNING {NOW_MS}"
    );
    let kept: Option<i64> = connection
        .value_opt(&kept, &[&signed(epoch.0), &signed(now_ms)])
        .await
        .map_err(failed("keeping a node alive"))?;
    kept.map(moment).ok_or_else(|| Conflict::LeaseLost.into())
}

/// Those of the epochs that have not ended, which none does before the step has.
pub(crate) async fn begun(connection: &Connection, epochs: &[i64]) -> Result<Vec<i64>, StoreError> {
    let begun = "SELECT epoch FROM nodes WHERE epoch = ANY($1) ORDER BY epoch FOR KEY SHARE";
    let found = connection.query(begun, &[&epochs]).await;
    let found = found.map_err(failed("looking for nodes"))?;
    found.iter().map(|row| get(row, "epoch")).collect()
}

/// Whether the epoch writes nothing any more: it stopped or was followed by another.
pub(crate) async fn has_ended(
    connection: &Connection,
    epoch: NodeEpoch,
) -> Result<bool, StoreError> {
    let is_there = connection
        .exists("SELECT 1 FROM nodes WHERE epoch = $1", &[&signed(epoch.0)])
        .await;
    Ok(!is_there.map_err(failed("looking for a node"))?)
}

/// Whether the epoch may lease further runnables.
pub(crate) async fn may_take(
    connection: &Connection,
    epoch: NodeEpoch,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM nodes WHERE epoch = $1 AND NOT is_dead";
    let may_take = connection.exists(sql, &[&signed(epoch.0)]).await;
    may_take.map_err(failed("looking for a node"))
}

/// Declares the epoch dead, which is final. Invocations may still be leased to it, even if it stopped or was started anew: a
/// claim of it that was under way is not seen by the step that frees them.
///
/// # Errors
/// `Held` while its node is alive.
pub(crate) async fn declare_dead(
    connection: &Connection,
    epoch: NodeEpoch,
    now_ms: EpochMs,
) -> Result<(), StoreError> {
    let died = connection
        .execute(
            "UPDATE nodes SET is_dead = TRUE WHERE epoch = $1 AND (is_dead OR heartbeat_ms <= $2)",
            &[&signed(epoch.0), &too_old(now_ms)],
        )
        .await
        .map_err(failed("declaring a node dead"))?;
    match died > 0 || has_ended(connection, epoch).await? {
        true => Ok(()),
        false => Err(Conflict::Held { by: epoch }.into()),
    }
}

/// The living epochs except those of `name`, which restarts.
pub(crate) async fn others(
    connection: &Connection,
    name: &NodeName,
    now_ms: EpochMs,
) -> Result<Vec<i64>, StoreError> {
    let living = "SELECT coalesce(array_agg(epoch), '{}') FROM nodes
                  WHERE name <> $1 AND NOT is_dead AND heartbeat_ms > $2";
    let living = connection
        .value(living, &[&name.as_str(), &too_old(now_ms)])
        .await;
    living.map_err(failed("looking for living nodes"))
}

/// The names of living nodes except `name`, which restarts.
pub(crate) async fn names(
    connection: &Connection,
    name: &NodeName,
    now_ms: EpochMs,
) -> Result<Vec<NodeName>, StoreError> {
    let living = "SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM nodes
                  WHERE name <> $1 AND NOT is_dead AND heartbeat_ms > $2";
    let living: Vec<String> = connection
        .value(living, &[&name.as_str(), &too_old(now_ms)])
        .await
        .map_err(failed("looking for living nodes"))?;
    Ok(living.into_iter().map(NodeName::new).collect())
}

/// Whether other nodes live.
pub(crate) async fn has_others(
    connection: &Connection,
    name: &NodeName,
) -> Result<bool, StoreError> {
    let now_ms = clock::ask(connection).await?;
    Ok(!names(connection, name, now_ms).await?.is_empty())
}

/// Ends the transactions that dead nodes had begun, for a database in which none lives: each of them would hold its locks until
/// the server finds it idle, and one that has waited for them meanwhile begins to be idle only then. They are those that have
/// lasted for a while, and began before the last node that had the work was dead: nodes that take over begin later, and those
/// that follow or start begin nothing that lasts.
pub(crate) async fn end_transactions_of_the_dead(
    connection: &Connection,
) -> Result<(), StoreError> {
    let ended = "WITH dead (since) AS (
                     SELECT to_timestamp(max(heartbeat_ms + CASE WHEN is_dead THEN $2::bigint ELSE $3::bigint END) / 1000.0)
                     FROM nodes)
                 SELECT count(*) FILTER (WHERE pg_terminate_backend(pid)) FROM pg_stat_activity, dead
                 WHERE datname = current_database() AND usename = session_user AND application_name = $1
                   AND xact_start < since AND xact_start < clock_timestamp() - make_interval(secs => $2 / 1000.0)";
    let (gone, silent) = (millis(GONE_AFTER), millis(NODE_TIMEOUT));
    let ended: i64 = connection
        .value(ended, &[&APPLICATION, &gone, &silent])
        .await
        .map_err(failed("ending the transactions of dead nodes"))?;
    if ended > 0 {
        tracing::info!(ended, "ended transactions of a node that is dead");
    }
    Ok(())
}

/// Declares all epochs dead except that of `name`, which restarts.
pub(crate) async fn declare_others_dead(
    connection: &Connection,
    name: &NodeName,
) -> Result<(), StoreError> {
    let died = "UPDATE nodes SET is_dead = TRUE WHERE name <> $1 AND NOT is_dead";
    let died = connection.execute(died, &[&name.as_str()]).await;
    died.map_err(failed("starting the node")).map(drop)
}

/// The living epochs except `epoch`, the caller's.
pub(crate) async fn besides(
    connection: &Connection,
    epoch: NodeEpoch,
    now_ms: EpochMs,
) -> Result<Vec<i64>, StoreError> {
    let living = "SELECT coalesce(array_agg(epoch), '{}') FROM nodes
                  WHERE epoch <> $1 AND NOT is_dead AND heartbeat_ms > $2";
    let living = connection
        .value(living, &[&signed(epoch.0), &too_old(now_ms)])
        .await;
    living.map_err(failed("looking for living nodes"))
}
