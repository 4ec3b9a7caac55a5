//! The file of a store: one process at a time, and everything still there afterwards.

use headwater_model::{
    hash::SecretHash,
    id::{KeyId, UserId, WorkspaceId},
    time::{EpochMs, EpochSeconds},
};
use headwater_store::{ApiKey, FirstUser, NodeName, Nodes, StoreError, Tenants, User, Workspace};
use headwater_store_sqlite::SqliteStore;

fn first_user() -> FirstUser {
    let user_id = UserId::new(EpochMs(1), 1);
    FirstUser {
        user: User {
            id: user_id.clone(),
            username: "ann".to_owned(),
            email: "ann@example.com".to_owned(),
            is_admin: true,
            created_at: EpochSeconds(1),
        },
        workspace: Workspace {
            id: WorkspaceId::new(EpochMs(1), 1),
            orgname: "ann".to_owned(),
            name: "ann".to_owned(),
            email: "ann@example.com".to_owned(),
            created_at: EpochSeconds(1),
        },
        key: ApiKey {
            id: KeyId::new(EpochMs(1), 1),
            user_id,
            name: "first".to_owned(),
            hash: SecretHash::new("hash"),
            created_at: EpochSeconds(1),
            last_used_at: None,
        },
    }
}

#[tokio::test]
async fn a_second_open_of_the_same_file_is_refused_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let first = SqliteStore::open(&path).unwrap();
    let refused = SqliteStore::open(&path).err().unwrap();
    assert!(matches!(refused, StoreError::Unsupported(_)));
    let message = refused.to_string();
    assert!(
        message.contains("another headwater is using this data folder"),
        "{message}"
    );
    assert!(message.contains("--data-dir"), "{message}");
    assert!(!message.contains("try again"), "{message}");
    // The first is none the worse for it, and when it is closed the file is free.
    first
        .start_node(&NodeName::new("node"), EpochMs(1))
        .await
        .unwrap();
    drop(first);
    SqliteStore::open(&path).unwrap();
}

#[tokio::test]
async fn data_survives_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path).unwrap();
    store.create_first_user(first_user()).await.unwrap();
    drop(store);
    let store = SqliteStore::open(&path).unwrap();
    let found = store
        .identity(&SecretHash::new("hash"))
        .await
        .unwrap()
        .unwrap();
    assert_eq!(found.user, first_user().user);
}

#[tokio::test]
async fn a_store_in_memory_reads_what_it_wrote() {
    let store = SqliteStore::open_in_memory().unwrap();
    assert!(!store.has_users().await.unwrap());
    store.create_first_user(first_user()).await.unwrap();
    assert!(store.has_users().await.unwrap());
}

#[tokio::test]
async fn a_file_that_is_no_database_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    std::fs::write(
        &path,
        "certainly not a database, but long enough to be read as one".repeat(99),
    )
    .unwrap();
    assert!(SqliteStore::open(&path).is_err());
}
