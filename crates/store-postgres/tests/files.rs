//! Files of owners in a database: the suite of every storage, and what is cleared away.

#![allow(
    clippy::unwrap_used,
    reason = "clippy lets test functions unwrap, and what they share is no different"
)]

#[path = "harness/server.rs"]
mod server;

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::time::EpochMs;
use headwater_store::{FileStorage, FileUsage, StoredFile, conformance::FilesFactory};
use headwater_store_postgres::{PostgresFiles, PostgresStore};
use server::Database;
use tokio::sync::OnceCell;
use tokio_postgres::{Client, NoTls};

/// A database for the storages of one test.
#[derive(Default)]
struct Databases(OnceCell<Database>);

impl Databases {
    async fn files(&self) -> PostgresFiles {
        let database = self.0.get_or_init(Database::create).await;
        let store = PostgresStore::open(&database.url()).await;
        PostgresFiles::of(Arc::new(store.expect("a database of the test")))
    }

    /// A connection of its own.
    async fn client(&self) -> Client {
        let url = self.0.get().expect("it was opened").url();
        let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

#[async_trait]
impl FilesFactory for Databases {
    async fn open(&self) -> Arc<dyn FileStorage> {
        Arc::new(self.files().await)
    }

    async fn reopen(&self, _: Arc<dyn FileStorage>) -> Arc<dyn FileStorage> {
        Arc::new(self.files().await)
    }
}

headwater_store::files_conformance_tests!(crate::Databases::default());

async fn count(client: &Client, table: &str) -> i64 {
    let sql = format!("SELECT count(*) FROM {table}");
    client.query_one(&sql, &[]).await.unwrap().get(0)
}

/// All of their times are over.
async fn let_time_pass(client: &Client) {
    let passed = "UPDATE file_contents SET kept_until_ms = 1 WHERE kept_until_ms IS NOT NULL";
    client.batch_execute(passed).await.unwrap();
}

async fn put(files: &PostgresFiles, at: &str, size: usize) -> bool {
    let mut writer = files.begin("u_1").await.unwrap();
    writer.write(Bytes::from(vec![1; size])).await.unwrap();
    let file = StoredFile {
        path: at.parse().unwrap(),
        size: size as u64,
        modified_at_ms: EpochMs(1),
        hash: "5891".to_owned(),
        expires_at_ms: None,
    };
    let most = FileUsage {
        files: 2,
        bytes: 100_000_000,
    };
    writer.commit(file, most).await.unwrap()
}

#[tokio::test]
async fn contents_that_nobody_needs_are_cleared_away_in_time() {
    let database = Databases::default();
    let files = database.files().await;
    let client = database.client().await;
    assert!(put(&files, "a", 1_000_000).await);
    assert!(put(&files, "a", 50_000_000).await);
    assert_eq!(count(&client, "file_contents").await, 2);
    files.delete_expired(EpochMs(1)).await.unwrap();
    assert_eq!(count(&client, "file_contents").await, 2, "some may read it");
    assert!(files.delete("u_1", &"a".parse().unwrap()).await.unwrap());
    assert!(put(&files, "b", 300_000).await);
    let mut unfinished = files.begin("u_1").await.unwrap();
    let bytes = || Bytes::from(vec![1; 300_000]);
    unfinished.write(bytes()).await.unwrap();
    let_time_pass(&client).await;
    files.delete_expired(EpochMs(1)).await.unwrap();
    assert_eq!(count(&client, "file_contents").await, 1);
    assert_eq!(count(&client, "file_chunks").await, 2, "those of `b`");
    let refused = unfinished.write(bytes()).await.unwrap_err().to_string();
    assert!(refused.contains("writing a file"), "{refused}");
    let content = files.open("u_1", &"b".parse().unwrap()).await.unwrap();
    let content = content.unwrap();
    assert_eq!(content.read(299_999, 10).await.unwrap().len(), 1);
    files.delete_all("u_1").await.unwrap();
    let gone = content.read(0, 10).await.unwrap_err();
    assert!(gone.to_string().contains("read it again"), "{gone}");
    assert_eq!(count(&client, "file_contents").await, 0);
}

#[tokio::test]
async fn a_file_that_was_not_finished_leaves_nothing() {
    let database = Databases::default();
    let files = database.files().await;
    let client = database.client().await;
    assert!(put(&files, "a", 1).await);
    assert!(put(&files, "b", 1).await);
    let mut unfinished = files.begin("u_1").await.unwrap();
    unfinished
        .write(Bytes::from(vec![1; 1_000_000]))
        .await
        .unwrap();
    assert_eq!(count(&client, "file_contents").await, 3);
    drop(unfinished);
    assert!(!put(&files, "c", 1_000_000).await, "the bound is reached");
    while count(&client, "file_contents").await > 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(count(&client, "file_chunks").await, 2);
}
