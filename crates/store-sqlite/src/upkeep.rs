//! Upkeep behind the trait.

use async_trait::async_trait;
use headwater_store::{StoreError, Upkeep};

use crate::{connection, health::checkpoint, store::SqliteStore};

#[async_trait]
impl Upkeep for SqliteStore {
    async fn check_writing(&self) -> Result<(), StoreError> {
        if self.health.cause().is_none() {
            return Ok(());
        }
        // After every step, this one included, the writer tries a large write, unless it has just done so.
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
        // The writer's own connection is in transactions; a separate one waits for it.
        let consolidated = tokio::task::spawn_blocking(move || {
            let connection = connection::writing(&path)?;
            checkpoint(&connection, "TRUNCATE")
        });
        consolidated
            .await
            .map_err(|error| StoreError::unavailable("consolidating the store", error))?
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::Arc, time::Duration};

    use headwater_model::{
        channel::Channel,
        event::NewEvent,
        id::{InvocationId, SourceId, UserId},
        time::EpochMs,
    };
    use headwater_store::{
        KvWrite, NodeEpoch, NodeName, Nodes, RunCommit, RunnableLease, Usage, WorkQueue,
    };
    use rusqlite::Connection;
    use serde_json::value::to_raw_value;

    use super::*;
    use crate::connection::failed;

    /// Longer than anything here takes.
    const PATIENCE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn an_idle_store_is_whole_in_its_main_file() {
        let folder = tempfile::tempdir().unwrap();
        let (path, copy) = (folder.path().join("a.db"), folder.path().join("copy.db"));
        let store = SqliteStore::open_idling(&path, Duration::ZERO).unwrap();
        for epoch in 1..4 {
            store
                .start_node(&NodeName::new("node"), EpochMs(0))
                .await
                .unwrap();
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
        let user_id = UserId::new(EpochMs(1), 1);
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
            run_id: InvocationId::new(EpochMs(1), 1),
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
            progress: None,
            ended: None,
            unrecorded: 0,
            now_ms: EpochMs(1),
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
            let source_id = SourceId::new(EpochMs(1), 1);
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

    /// Commits of a batch share a savepoint, unless the database fails for one of them.
    #[tokio::test]
    async fn a_commit_that_could_not_be_written_leaves_those_before_it() {
        let source_id = SourceId::new(EpochMs(1), 1);
        let store = with_source(&source_id).await;
        let dropped = store.write(|connection| {
            let dropped = connection.execute_batch("DROP TABLE key_values");
            dropped.map_err(failed("testing"))
        });
        dropped.await.unwrap();
        let without_keys = |text: &str| RunCommit {
            kv_writes: Vec::new(),
            ..run(&source_id, text)
        };
        let commits = [without_keys("1"), run(&source_id, "2"), without_keys("3")];
        let committed = store.commit_runs(Arc::from(commits)).await;
        let kept: Vec<bool> = committed.iter().map(Result::is_ok).collect();
        assert_eq!(kept, [true, false, false]);
        let count = store.read(|connection| {
            let count = connection.query_row("SELECT count(*) FROM events", (), |row| row.get(0));
            count.map_err(failed("testing"))
        });
        let count: u32 = count.await.unwrap();
        assert_eq!(count, 1);
    }
}
