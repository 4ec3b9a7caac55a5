//! A node behind PgBouncer in transaction mode: each of its transactions may have another connection of the server.

use std::sync::Arc;

use headwater_integration::{Database, Node, PgBouncer, headwater_in, payloads};
use serde_json::{Value, json};

use crate::code::INBOX;

const REQUESTS: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_node_works_behind_a_pooler_whether_it_keeps_statements_or_not() {
    work_behind(false).await;
    match PgBouncer::can_keep_statements() {
        true => work_behind(true).await,
        false => eprintln!("skipped: Debian's PgBouncer of this machine keeps no statements"),
    }
}

async fn work_behind(keeps_statements: bool) {
    let database = Arc::new(Database::create());
    let pooler = PgBouncer::before(&database, keeps_statements);
    let node = Node::builder()
        .database(&database)
        .env("HEADWATER_DATABASE_URL", &pooler.url());
    let mut node = node.start().await;
    let inbox = node.deploy(INBOX, json!({})).await;
    let http = reqwest::Client::new();
    let requests = (0..REQUESTS).map(|number| {
        let request = http.post(inbox.endpoint()).json(&json!({"n": number}));
        async move { request.send().await.unwrap().status().as_u16() }
    });
    let answers = futures::future::join_all(requests).await;
    assert_eq!(answers, [200; REQUESTS]);
    let events = node
        .events_until(&inbox, |events| events.len() == REQUESTS)
        .await;
    let bodies = payloads(&events).into_iter();
    let mut numbers: Vec<_> = bodies
        .map(|event| event["body"]["n"].as_u64().unwrap())
        .collect();
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq(0..REQUESTS as u64));
    let is_told = node.output().contains("keeps no prepared statements");
    assert_eq!(is_told, !keeps_statements, "{}", node.output());
    assert!(node.terminate().await.success());

    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("copy").display().to_string();
    let copy = ["store", "copy", "--from", &pooler.url(), "--to", &to];
    let refused = headwater_in(folder.path(), &copy).await;
    assert!(
        refused.stderr.contains("a pooler in transaction mode"),
        "{}",
        refused.stderr
    );
    let left = database.sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'");
    assert_eq!(Value::from(left), "0");
}
