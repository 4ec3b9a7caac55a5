//! The condition of the database: whether writes succeed, and where what was written is.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use headwater_store::{StoreError, Upkeep};
use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::Notify;

use crate::{SqliteStore, connection, connection::failed};

/// The bytes that have to fit before a full disk counts as having room again: the next request may not be a small one.
const PROBE_BYTES: u32 = 1024 * 1024;

/// How often that is tried at most.
const PROBED_EVERY: Duration = Duration::from_secs(1);

/// Whether writes succeed. Told by the writer; asked by whoever wants to know whether the node is well.
pub(crate) struct Health {
    failure: Mutex<Option<Failure>>,
    probed_every: Duration,
    /// Told whenever what was written has been copied into the main file because nothing else was to do.
    pub(crate) copied: Notify,
}

/// Since a write has failed.
struct Failure {
    /// The database's words when one failed last.
    cause: String,
    /// When it was tried last whether there is room again.
    probed_at: Option<Instant>,
}

impl Default for Health {
    fn default() -> Self {
        Self::probed_every(PROBED_EVERY)
    }
}

impl Health {
    pub(crate) fn probed_every(probed_every: Duration) -> Self {
        Self {
            failure: Mutex::default(),
            probed_every,
            copied: Notify::new(),
        }
    }

    /// Notes a write that failed. The first one is logged.
    pub(crate) fn fail(&self, cause: &str) {
        let mut failure = self.failure.lock();
        if failure.is_none() {
            tracing::error!(
                cause,
                "the store cannot be written; nothing is accepted until it can"
            );
        }
        *failure = Some(Failure {
            cause: cause.to_owned(),
            probed_at: failure.take().and_then(|failure| failure.probed_at),
        });
    }

    /// Why writing failed last, until it has been found that there is room again.
    pub(crate) fn cause(&self) -> Option<String> {
        let failure = self.failure.lock();
        failure.as_ref().map(|failure| failure.cause.clone())
    }

    /// After a write that succeeded: a small one does so on a full disk too, so that it takes a large one to be well
    /// again. The connection must not be in a transaction.
    pub(crate) fn probe(&self, connection: &Connection, now: Instant) {
        if !self.begin_probe(now) {
            return;
        }
        match write_probe(connection) {
            Ok(()) => {
                tracing::info!("the store can be written again");
                *self.failure.lock() = None;
            }
            Err(error) => self.fail(&error.in_full()),
        }
    }

    /// Whether it is time to try.
    fn begin_probe(&self, now: Instant) -> bool {
        let mut failure = self.failure.lock();
        let Some(failure) = failure.as_mut() else {
            return false;
        };
        let is_due = |probed_at| now.duration_since(probed_at) >= self.probed_every;
        let is_due = failure.probed_at.is_none_or(is_due);
        if is_due {
            failure.probed_at = Some(now);
        }
        is_due
    }
}

#[async_trait]
impl Upkeep for SqliteStore {
    async fn check_writing(&self) -> Result<(), StoreError> {
        if self.health.cause().is_none() {
            return Ok(());
        }
        // After any step, and be it this one, the writer tries a large write, unless it has just done so.
        self.write(|_| Ok(())).await?;
        match self.health.cause() {
            Some(cause) => Err(StoreError::unavailable("writing", cause)),
            None => Ok(()),
        }
    }

    async fn consolidate(&self) -> Result<(), StoreError> {
        let Some(path) = self.path.clone() else {
            return Ok(());
        };
        // The writer's own connection is in transactions; one beside it waits for it.
        let consolidated = tokio::task::spawn_blocking(move || {
            let connection = connection::writing(&path)?;
            checkpoint(&connection, "TRUNCATE")
        });
        consolidated
            .await
            .map_err(|error| StoreError::unavailable("consolidating the store", error))?
    }
}

/// Writes bytes that nobody reads, and frees them again.
fn write_probe(connection: &Connection) -> Result<(), StoreError> {
    for bytes in [Some(PROBE_BYTES), None] {
        connection
            .execute("UPDATE node SET probe = zeroblob(?1)", [bytes])
            .map_err(failed("probing whether the store can be written"))?;
    }
    Ok(())
}

/// Copies what was written into the main file; `PASSIVE` as far as nobody has to wait for it.
pub(crate) fn checkpoint(connection: &Connection, mode: &str) -> Result<(), StoreError> {
    let is_busy: bool = connection
        .query_row(&format!("PRAGMA wal_checkpoint({mode})"), (), |row| {
            row.get(0)
        })
        .map_err(failed("consolidating the store"))?;
    match is_busy && mode != "PASSIVE" {
        true => Err(StoreError::unavailable(
            "consolidating the store",
            "somebody else is using it",
        )),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use headwater_model::{
        channel::Channel,
        event::NewEvent,
        id::{InvocationId, SourceId, UserId},
    };
    use headwater_store::{
        KvWrite, NodeEpoch, NodeName, Nodes, RunCommit, RunnableLease, Usage, WorkQueue,
    };
    use serde_json::value::to_raw_value;

    use super::*;

    /// Longer than anything here takes.
    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn whether_there_is_room_again_is_tried_once_a_second() {
        let health = Health::default();
        let now = Instant::now();
        let after = |ms| now + Duration::from_millis(ms);
        assert!(!health.begin_probe(now), "it is well");
        health.fail("full");
        assert!(health.begin_probe(now));
        health.fail("full");
        assert!(!health.begin_probe(after(999)));
        assert!(health.begin_probe(after(1_000)));
        assert!(!health.begin_probe(after(1_999)));
    }

    #[tokio::test]
    async fn an_idle_store_is_whole_in_its_main_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.db"));
        let store = SqliteStore::open_idling(&path, Duration::ZERO).unwrap();
        for epoch in 1..4 {
            store.start_node(&NodeName::new("node"), 0).await.unwrap();
            let copied = tokio::time::timeout(PATIENCE, store.health.copied.notified());
            copied.await.expect("it is copied into the main file");
            std::fs::copy(&path, &copy).unwrap();
            let copy = Connection::open(&copy).unwrap();
            let found = copy.query_row("SELECT epoch FROM node", (), |row| row.get(0));
            assert_eq!(found, Ok(epoch));
        }
    }

    /// A store with an active source.
    async fn with_source(source_id: &SourceId) -> SqliteStore {
        let store = SqliteStore::open_in_memory().unwrap();
        let user_id = UserId::new(1, 1);
        let sql = format!(
            "INSERT INTO artifacts VALUES ('a', '');
             INSERT INTO components VALUES ('sc_1', '{user_id}', NULL, NULL, '', NULL, '', 'a', '', '{{}}', 1, 1);
             INSERT INTO sources (id, user_id, name, name_slug, state, component_id, artifact_hash, configured_props,
                                  created_at, updated_at)
             VALUES ('{source_id}', '{user_id}', 's', 's', 'active', 'sc_1', 'a', '{{}}', 1, 1);
             INSERT INTO emitters (emitter_id, user_id, lease_epoch, fence) VALUES ('{source_id}', '{user_id}', 1, 1);"
        );
        let filled = store
            .write(move |connection| connection.execute_batch(&sql).map_err(failed("testing")));
        filled.await.unwrap();
        store
    }

    fn run(source_id: &SourceId, text: &str) -> RunCommit {
        RunCommit {
            lease: RunnableLease {
                runnable: source_id.clone().into(),
                epoch: NodeEpoch(1),
                fence: 1,
            },
            run_id: InvocationId::new(1, 1),
            invocation: None,
            events: vec![NewEvent {
                channel: Channel::default(),
                event: to_raw_value(text).unwrap(),
                key: None,
                summary: None,
                ts: None,
                scheduled: None,
                hops: 0,
                trace: None,
            }],
            dedupe: None,
            kv_writes: vec![KvWrite {
                key: "k".to_owned(),
                value: None,
            }],
            usage: Usage::default(),
            ended: None,
            now_ms: 1,
        }
    }

    #[tokio::test]
    async fn a_run_that_could_not_be_committed_is_noted_with_the_databases_words() {
        for (hindrance, text, said) in [
            ("DROP TABLE key_values", "", "no such table: key_values"),
            (
                "PRAGMA max_page_count = 1",
                &"x".repeat(100_000),
                "database or disk is full",
            ),
        ] {
            let source_id = SourceId::new(1, 1);
            let store = with_source(&source_id).await;
            let committed = store.commit_runs(Arc::from([run(&source_id, "")])).await;
            assert!(committed[0].is_ok(), "{committed:?}");
            assert_eq!(store.health.cause(), None);
            let hindered = store.write(move |connection| {
                connection
                    .execute_batch(hindrance)
                    .map_err(failed("testing"))
            });
            hindered.await.unwrap();
            let committed = store.commit_runs(Arc::from([run(&source_id, text)])).await;
            assert!(matches!(committed[0], Err(StoreError::Unavailable { .. })));
            let cause = store.health.cause().unwrap();
            assert!(cause.contains(said), "{cause}");
        }
    }
}
