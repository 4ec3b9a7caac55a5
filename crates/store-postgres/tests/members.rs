//! The members of a cluster: who leads, who could take over, and what the others see of them. Embedded stores have none.

#![allow(
    clippy::unwrap_used,
    reason = "a test fails by panicking; the lint's exemption does not reach helpers"
)]

#[path = "harness/server.rs"]
mod server;

use headwater_model::time::EpochMs;
use headwater_store::{Member, MemberPart, Members as _, NodeName, Nodes as _, Sealed, StoreError};
use headwater_store_postgres::{Joined, Joining, PostgresStore};
use server::Database;
use tokio_postgres::{Client, NoTls};

/// Two members of one database.
struct Two {
    database: Database,
    store: PostgresStore,
}

const ONE: &str = "n_one";
const OTHER: &str = "n_other";

impl Two {
    async fn join() -> Self {
        let database = Database::create().await;
        let store = PostgresStore::open(&database.url()).await.unwrap();
        let two = Self { database, store };
        two.joins(ONE, true).await;
        two.joins(OTHER, true).await;
        two
    }

    async fn joins(&self, name: &str, can_lead: bool) -> Joined {
        let joining = Joining {
            name: &NodeName::new(name),
            address: &format!("http://{name}"),
            version: "1.2.3",
            can_lead,
        };
        self.store.join(joining).await.unwrap()
    }

    async fn member(&self, name: &str) -> Option<Member> {
        let members = self.store.members().await.unwrap();
        members
            .into_iter()
            .find(|member| member.name.as_str() == name)
    }

    async fn part(&self, name: &str) -> MemberPart {
        self.member(name).await.unwrap().part
    }

    async fn sql(&self, sql: &str) {
        self.client().await.batch_execute(sql).await.unwrap();
    }

    async fn client(&self) -> Client {
        let connected = tokio_postgres::connect(&self.database.url(), NoTls).await;
        let (client, connection) = connected.unwrap();
        tokio::spawn(connection);
        client
    }

    /// A session of an application with a transaction that has begun so.
    async fn begun(&self, application: &str, sql: &str) -> Client {
        let client = self.client().await;
        let begun = format!("SET application_name = '{application}'; BEGIN; {sql}");
        client.batch_execute(&begun).await.unwrap();
        client
    }

    /// Lets so much time pass for everything that was said so far.
    async fn let_pass(&self, ms: u32) {
        self.sql(&format!(
            "UPDATE members SET seen_at_ms = seen_at_ms - {ms}"
        ))
        .await;
        self.sql(&format!(
            "UPDATE nodes SET heartbeat_ms = heartbeat_ms - {ms}"
        ))
        .await;
    }

    async fn now_ms(&self) -> EpochMs {
        self.store.others(&NodeName::new("")).await.unwrap();
        self.store.clock().now_ms()
    }
}

/// Whether a transaction has lasted for longer than those of nodes that follow do.
async fn has_lasted_long(client: &Client) -> bool {
    let old = "SELECT xact_start < clock_timestamp() - interval '3 seconds' FROM pg_stat_activity
               WHERE pid = pg_backend_pid()";
    client.query_one(old, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn a_member_is_lost_when_it_is_silent_and_forgotten_later() {
    let two = Two::join().await;
    assert_eq!(two.part(ONE).await, MemberPart::Follows);
    two.let_pass(8_001).await;
    two.joins(OTHER, true).await;
    assert_eq!(two.part(ONE).await, MemberPart::Lost);
    assert_eq!(two.part(OTHER).await, MemberPart::Follows);
    two.let_pass(3_600_000).await;
    assert_eq!(two.member(ONE).await, None);
    let joined = two.joins(ONE, true).await;
    assert!(!joined.has_successor, "the other is lost by now");
    two.store.leave(&NodeName::new(ONE)).await.unwrap();
    assert_eq!(two.member(ONE).await, None);
}

#[tokio::test]
async fn a_successor_lives_is_not_drained_and_could_lead() {
    let two = Two::join().await;
    let has_successor = async || two.joins(ONE, true).await.has_successor;
    assert!(has_successor().await);
    let other = NodeName::new(OTHER);
    assert!(two.store.set_draining(&other, true).await.unwrap());
    assert!(!has_successor().await);
    assert!(two.joins(OTHER, true).await.is_draining, "it learns that");
    assert!(two.store.set_draining(&other, false).await.unwrap());
    assert!(has_successor().await);
    two.joins(OTHER, false).await;
    assert!(!has_successor().await);
    assert!(!two.member(OTHER).await.unwrap().can_lead);
    two.joins(OTHER, true).await;
    two.let_pass(8_001).await;
    assert!(!has_successor().await);
    let nobody = NodeName::new("n_nobody");
    assert!(!two.store.set_draining(&nobody, true).await.unwrap());
}

#[tokio::test]
async fn the_one_that_leads_is_known_until_it_is_given_up_or_silent() {
    let two = Two::join().await;
    assert_eq!(two.store.leader().await.unwrap(), None);
    let one = NodeName::new(ONE);
    let epoch = two
        .store
        .start_node(&one, two.now_ms().await)
        .await
        .unwrap();
    let leader = two.store.leader().await.unwrap().unwrap();
    assert_eq!((&leader.name, leader.epoch), (&one, epoch));
    assert_eq!(leader.address.as_deref(), Some("http://n_one"));
    assert_eq!(two.part(ONE).await, MemberPart::Leads);
    assert!(
        !two.store.give_up(epoch).await.unwrap(),
        "it was just heard of"
    );
    two.let_pass(4_001).await;
    assert!(two.store.leader().await.unwrap().is_some());
    assert!(two.store.give_up(epoch).await.unwrap());
    assert_eq!(two.store.leader().await.unwrap(), None);
    let beat = two.store.heartbeat(epoch, two.now_ms().await).await;
    assert!(matches!(beat, Err(StoreError::Conflict(_))), "{beat:?}");
    two.store
        .start_node(&one, two.now_ms().await)
        .await
        .unwrap();
    two.let_pass(8_001).await;
    assert_eq!(two.store.leader().await.unwrap(), None);
}

/// A node that is paused holds its turn to append to the log, and hands it on to the next of its own transactions.
#[tokio::test]
async fn transactions_of_a_dead_node_end_before_another_takes_over() {
    const TURN: &str = "LOCK TABLE log_turn IN EXCLUSIVE MODE";
    let two = Two::join().await;
    let holding = two.begun("headwater", TURN).await;
    let waiting = two.begun("headwater", "SELECT 1").await;
    let others = two.begun("somebody else", "SELECT 1").await;
    let now_ms = two.now_ms().await;
    let (one, other) = (NodeName::new(ONE), NodeName::new(OTHER));
    two.store.start_node(&one, now_ms).await.unwrap();
    let prepare = async || two.store.prepare(&other).await.unwrap();
    assert!(!prepare().await, "the one that leads lives");
    holding.batch_execute("SELECT 1").await.unwrap();
    // It dies a moment later.
    two.let_pass(5_900).await;
    while !prepare().await {}
    let candidate = two.begun("headwater", "SELECT 1").await;
    let takes_over = async {
        loop {
            prepare().await;
        }
    };
    let ended = async {
        // It may have its turn for a moment.
        while waiting.batch_execute(TURN).await.is_ok() {}
    };
    tokio::select! {
        () = ended => {}
        () = takes_over => unreachable!("it takes over again and again"),
    };
    holding.batch_execute("COMMIT").await.unwrap_err();
    others.batch_execute("COMMIT").await.unwrap();
    // Another one that takes over, too, is not dead, however long it takes.
    while !has_lasted_long(&candidate).await {}
    assert!(prepare().await);
    candidate.batch_execute("COMMIT").await.unwrap();
}

/// A newer program that follows an older one, whose tables have less.
#[tokio::test]
async fn a_member_joins_a_database_of_the_version_before() {
    let two = Two::join().await;
    let before = "
        ALTER TABLE members DROP COLUMN can_lead;
        DROP TABLE cluster_marks;
        DROP TABLE commit_marks;
        ALTER TABLE runs DROP COLUMN starts, DROP COLUMN time_limit_ms, DROP COLUMN response_status,
            DROP COLUMN response_bytes, DROP COLUMN changed, DROP COLUMN changed_keys;
        ALTER TABLE attempts DROP COLUMN cause;
        ALTER TABLE accounts DROP COLUMN renewed_at;
        UPDATE schema_version SET version = 4";
    two.sql(before).await;
    assert!(two.joins(ONE, false).await.has_successor);
    assert_eq!(two.store.cluster_mark().await.unwrap(), None);
    two.store.knows_schema().await.unwrap();
    assert!(two.store.prepare(&NodeName::new(ONE)).await.unwrap());
    assert!(two.member(ONE).await.unwrap().can_lead);
    two.sql("UPDATE schema_version SET version = version + 1")
        .await;
    let newer = two.store.knows_schema().await;
    assert!(
        matches!(newer, Err(StoreError::Unsupported(_))),
        "{newer:?}"
    );
    assert!(
        two.joins(OTHER, false).await.has_successor,
        "it still follows"
    );
}

#[tokio::test]
async fn the_first_keys_and_the_last_mark_are_kept() {
    let two = Two::join().await;
    let sealed = |text: &str| Sealed(text.as_bytes().to_vec());
    assert_eq!(two.store.cluster_keys().await.unwrap(), None);
    for keys in ["first", "second"] {
        let kept = two.store.begin_cluster_keys(&sealed(keys)).await.unwrap();
        assert_eq!(kept, sealed("first"));
    }
    two.store.set_cluster_keys(&sealed("third")).await.unwrap();
    assert_eq!(
        two.store.cluster_keys().await.unwrap(),
        Some(sealed("third"))
    );
    assert_eq!(two.store.cluster_mark().await.unwrap(), None);
    for mark in ["first", "second"] {
        two.store.set_cluster_mark(&sealed(mark)).await.unwrap();
        assert_eq!(two.store.cluster_mark().await.unwrap(), Some(sealed(mark)));
    }
}
