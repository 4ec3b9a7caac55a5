//! The database of a store: what an older program must leave alone, and everything still there afterwards.

#[path = "harness/server.rs"]
mod server;
#[path = "harness/wire.rs"]
mod wire;

use std::sync::Arc;

use futures::future::join_all;
use headwater_model::{
    channel::Channel,
    event::NewEvent,
    id::{InvocationId, SourceId, UserId},
    time::EpochMs,
};
use headwater_store::{
    LeaseTerm, NodeName, Nodes as _, RunCommit, RunnableLease, StoreError, Upkeep as _, Usage,
    WorkLimit, WorkQueue as _,
};
use headwater_store_postgres::PostgresStore;
use serde_json::value::RawValue;
use server::{Database, server_folder, url};
use tokio_postgres::{Client, NoTls};
use wire::{Cut, Wire};

async fn connect(database: &Database) -> Client {
    let connected = tokio_postgres::connect(&database.url(), NoTls).await;
    let (client, connection) = connected.expect("the database");
    tokio::spawn(connection);
    client
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let database = Database::create().await;
    PostgresStore::open(&database.url()).await.unwrap();
    let client = connect(&database).await;
    let newer = "UPDATE schema_version SET version = version + 1";
    client.batch_execute(newer).await.unwrap();
    let refused = PostgresStore::open(&database.url()).await.err().unwrap();
    assert!(matches!(refused, StoreError::Unsupported(_)));
    let told = refused.to_string();
    assert!(told.starts_with("the database has schema"), "{told}");
    assert!(told.contains("start a newer headwater"), "{told}");
}

#[tokio::test]
async fn a_server_that_is_not_there_is_an_error() {
    let refused = PostgresStore::open("host=/nowhere user=nobody").await;
    assert!(matches!(
        refused.err().unwrap(),
        StoreError::Unavailable { .. }
    ));
}

#[tokio::test]
async fn epochs_increase_across_reopen() {
    let database = Database::create().await;
    let name = NodeName::new("node");
    let mut former = None;
    for now_ms in [1, 2, 3].map(EpochMs) {
        let store = PostgresStore::open(&database.url()).await.unwrap();
        let epoch = store.start_node(&name, now_ms).await.unwrap();
        assert!(former < Some(epoch));
        former = Some(epoch);
    }
}

#[tokio::test]
async fn a_server_that_refuses_writes_is_told_until_it_takes_them() {
    let database = Database::create().await;
    let store = PostgresStore::open(&database.url()).await.unwrap();
    store.check_writing().await.unwrap();
    let client = connect(&database).await;
    let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
                  AS $$ BEGIN RAISE 'no space left' USING ERRCODE = 'disk_full'; END $$;
                  CREATE TRIGGER refusing BEFORE UPDATE ON schema_version EXECUTE FUNCTION refuse()";
    client.batch_execute(refuse).await.unwrap();
    let told = store.check_writing().await.unwrap_err().in_full();
    assert!(told.contains("no space left"), "{told}");
    let again = "DROP TRIGGER refusing ON schema_version";
    client.batch_execute(again).await.unwrap();
    store.check_writing().await.unwrap();
}

/// A source under a lease of a node that has started.
async fn leased(store: &PostgresStore, client: &Client) -> RunnableLease {
    let now_ms = EpochMs(1);
    let name = NodeName::new("node");
    let epoch = store.start_node(&name, now_ms).await.expect("an epoch");
    let source = SourceId::new(now_ms, 1);
    let emitter = format!(
        "INSERT INTO emitters (emitter_id, user_id, lease_epoch, fence) VALUES ('{source}', '{}', {}, 1)",
        UserId::new(now_ms, 1),
        epoch.0
    );
    client.batch_execute(&emitter).await.expect("the emitter");
    RunnableLease {
        runnable: source.into(),
        epoch,
        fence: 1,
    }
}

/// The same, with an invocation whose own lease has expired.
async fn expired(store: &PostgresStore, client: &Client) -> (RunnableLease, LeaseTerm) {
    let lease = leased(store, client).await;
    let invocation = format!(
        "INSERT INTO invocations (id, runnable_id, trigger, event, hops, queued_at_ms, lease_epoch, lease_expires_at_ms)
         VALUES ('{}', '{}', 'manual', '{{}}', 0, 1, {}, 2)",
        InvocationId::new(EpochMs(1), 1),
        lease.runnable,
        lease.epoch.0,
    );
    let inserted = client.batch_execute(&invocation).await;
    inserted.expect("the invocation");
    let term = LeaseTerm {
        epoch: lease.epoch,
        expires_at_ms: EpochMs(100),
    };
    (lease, term)
}

#[tokio::test]
async fn a_claim_waits_for_no_commit_of_its_runnable() {
    let database = Database::create().await;
    let store = PostgresStore::open(&database.url()).await.unwrap();
    let client = connect(&database).await;
    let (lease, term) = expired(&store, &client).await;
    let commit = "BEGIN; SELECT 1 FROM emitters FOR NO KEY UPDATE";
    client.batch_execute(commit).await.unwrap();
    let claimed = store.claim(&lease, term, EpochMs(5), WorkLimit::of(1));
    assert_eq!(claimed.await.unwrap().len(), 1);
}

/// A commit that is under way when the lease of its invocation has expired may leave the invocation until later.
#[tokio::test]
async fn a_claim_leaves_what_a_commit_under_way_makes_due_later() {
    let database = Database::create().await;
    let store = Arc::new(PostgresStore::open(&database.url()).await.unwrap());
    let client = connect(&database).await;
    let (lease, term) = expired(&store, &client).await;
    let commit = "BEGIN; UPDATE invocations SET due_at_ms = 90, lease_epoch = NULL, lease_expires_at_ms = NULL";
    client.batch_execute(commit).await.unwrap();
    let claiming = Arc::clone(&store);
    let claim = tokio::spawn(async move {
        let claimed = claiming.claim(&lease, term, EpochMs(5), WorkLimit::of(1));
        claimed.await
    });
    let waiting = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity
                   WHERE datname = current_database() AND wait_event_type = 'Lock')";
    let observer = connect(&database).await;
    while !observer
        .query_one(waiting, &[])
        .await
        .unwrap()
        .get::<_, bool>(0)
    {
        assert!(!claim.is_finished(), "it waits for the commit");
    }
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(claim.await.unwrap().unwrap().len(), 0);
}

/// A run of a source that emits its number.
fn run_of(lease: &RunnableLease, number: u128) -> RunCommit {
    let now_ms = EpochMs(1);
    RunCommit {
        lease: lease.clone(),
        run_id: InvocationId::new(now_ms, number),
        invocation: None,
        events: vec![NewEvent {
            channel: Channel::default(),
            event: RawValue::from_string(number.to_string()).expect("a number"),
            key: None,
            summary: None,
            ts: None,
            scheduled: None,
            hops: 0,
            trace: None,
        }],
        dedupe: None,
        kv_writes: Vec::new(),
        usage: Usage::default(),
        progress: None,
        ended: None,
        unrecorded: 0,
        now_ms,
    }
}

/// Runs of sources that wait share a transaction, and the database may refuse the values of one of them.
#[tokio::test]
async fn a_value_that_the_database_refuses_takes_no_other_commit_with_it() {
    let database = Database::create().await;
    let store = PostgresStore::open(&database.url()).await.unwrap();
    let client = connect(&database).await;
    let lease = leased(&store, &client).await;
    let refuse = "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql
         AS $$ BEGIN RAISE 'not this one' USING ERRCODE = 'check_violation'; END $$;
         CREATE TRIGGER refusing BEFORE INSERT ON events
         FOR EACH ROW WHEN (NEW.event = '2') EXECUTE FUNCTION refuse()";
    client.batch_execute(refuse).await.unwrap();
    let run = |number| run_of(&lease, number);
    let results = store.commit_runs([run(1), run(2), run(3)].into()).await;
    let [Ok(()), Err(StoreError::Corrupt(told)), Ok(())] = &results[..] else {
        panic!("{results:?}");
    };
    assert!(told.contains("not this one"), "{told}");
    let kept = "SELECT array_agg(event ORDER BY position) FROM events";
    let kept = client.query_one(kept, &[]).await.unwrap();
    assert_eq!(kept.get::<_, Vec<String>>(0), ["1", "3"]);
}

/// The right to have a server that does not crash meanwhile, or that does: the databases of all tests are on one.
async fn server_for_itself() -> Client {
    let (client, connection) = tokio_postgres::connect(&url(server_folder(), "postgres"), NoTls)
        .await
        .expect("the server");
    tokio::spawn(connection);
    let locked = client.query_one("SELECT pg_advisory_lock(2)", &[]).await;
    locked.expect("the lock");
    client
}

/// After a crash, or on another server, the ids of transactions say nothing.
#[tokio::test]
async fn a_commit_of_runs_is_known_after_its_server_has_crashed() {
    for (cut, is_kept) in [(Cut::After, true), (Cut::Before, false)] {
        let database = Database::create().await;
        let server = server_for_itself().await;
        let wire = Wire::to(server_folder());
        let store = PostgresStore::open(&database.url_at(wire.folder()))
            .await
            .unwrap();
        let client = connect(&database).await;
        let lease = leased(&store, &client).await;
        let commits: Arc<[_]> = [run_of(&lease, 1)].into();
        let (committed, ()) = tokio::join!(store.commit_runs(Arc::clone(&commits)), async {
            wire.close_with_next(cut).await;
            // As a crash of one of its processes does.
            let crash = server
                .batch_execute("SELECT pg_stat_reset_shared('wal')")
                .await;
            crash.unwrap();
            wire.set_open(true);
        });
        match (&committed[..], is_kept) {
            ([Ok(())], true) => {}
            ([Err(StoreError::Unavailable { .. })], false) => {
                assert!(store.commit_runs(commits).await[0].is_ok());
            }
            (committed, _) => panic!("{cut:?}: {committed:?}"),
        }
        let kept = "SELECT count(*) FROM events";
        let kept = client.query_one(kept, &[]).await.unwrap();
        assert_eq!(kept.get::<_, i64>(0), 1, "{cut:?}");
    }
}

#[tokio::test]
async fn a_host_that_does_not_answer_holds_up_one_heartbeat() {
    let database = Database::create().await;
    let (first, second) = (Wire::to(server_folder()), Wire::to(server_folder()));
    let folders = [&first, &second].map(|wire| wire.folder().display().to_string());
    let both = database
        .url_at(first.folder())
        .replace(&folders[0], &folders.join(","));
    let store = PostgresStore::open(&both).await.unwrap();
    let now_ms = EpochMs(1);
    let epoch = store.start_node(&NodeName::new("node"), now_ms).await;
    let epoch = epoch.unwrap();
    store.heartbeat(epoch, now_ms).await.unwrap();
    first.set_open(false);
    // A connection whose end was not seen yet fails at once.
    let mut waited = 0;
    while let Err(error) = store.heartbeat(epoch, now_ms).await {
        let told = error.in_full();
        waited += usize::from(told.starts_with("waiting for the database"));
        assert!(waited <= 1, "{told}");
    }
    store.heartbeat(epoch, now_ms).await.unwrap();
}

#[tokio::test]
async fn nodes_that_start_together_on_a_new_database_find_its_tables() {
    let database = Database::create().await;
    let client = connect(&database).await;
    let nothing = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
    client.batch_execute(nothing).await.unwrap();
    let url = database.url();
    let stores = join_all((0..4).map(|_| PostgresStore::open(&url))).await;
    for store in stores {
        store.unwrap().check_writing().await.unwrap();
    }
}

#[tokio::test]
async fn a_commit_whose_answer_is_lost_counts_as_what_the_server_knows() {
    let database = Database::create().await;
    let _server = server_for_itself().await;
    let wire = Wire::to(server_folder());
    let store = PostgresStore::open(&database.url_at(wire.folder()))
        .await
        .unwrap();
    let now_ms = EpochMs(1);
    wire.cut_next(Cut::After);
    let kept = store.start_node(&NodeName::new("kept"), now_ms).await;
    assert!(wire.is_cut());
    store.heartbeat(kept.unwrap(), now_ms).await.unwrap();
    wire.cut_next(Cut::Before);
    let lost = store.start_node(&NodeName::new("lost"), now_ms).await;
    assert!(wire.is_cut());
    assert!(
        matches!(lost, Err(StoreError::Unavailable { .. })),
        "{lost:?}"
    );
    let others = store.others(&NodeName::new("asking")).await.unwrap();
    assert_eq!(others, [], "those of long ago");
    let client = connect(&database).await;
    let rows = client.query("SELECT name FROM nodes", &[]).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].get::<_, String>(0), "kept");
}
