//! The published `@pipedream/postgresql`, unchanged, on a real PostgreSQL server.

use headwater_integration::{Node, Postgres, Source, fields};
use serde_json::{Value, json};

const NEW_ROW: &str =
    r#"export { default } from "@pipedream/postgresql@2.2.4/sources/new-row/new-row.mjs";"#;

async fn deploy(node: &Node, postgres: &Postgres) -> Source {
    let account = node.account("postgresql", postgres.account_fields()).await;
    let props = json!({
        "postgresql": {"authProvisionId": account},
        "timer": {"intervalSeconds": 1},
        "schema": "public",
        "table": "orders",
    });
    node.deploy(NEW_ROW, props).await
}

/// The ids emitted so far, in order of size: rows of one poll may come in any order.
fn ids(events: &[Value]) -> Vec<i64> {
    let mut ids: Vec<_> = fields(events, "id")
        .iter()
        .map(|id| id.as_i64().unwrap())
        .collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn rows_are_emitted_once_across_kills() {
    let postgres = Postgres::start().await;
    postgres.sql("create table orders (id serial primary key, what text not null)");
    postgres.sql("insert into orders (what) values ('tea'), ('bread'), ('salt')");
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;

    let source = deploy(&node, &postgres).await;
    // The events of `deploy` are there when the deployment is answered.
    let events = node.events(&source).await;
    assert_eq!(ids(&events), [1, 2, 3]);
    assert_eq!(events[0]["metadata"]["summary"], "New Row Added");

    postgres.sql("insert into orders (what) values ('milk')");
    let events = node.events_until(&source, |events| events.len() > 3).await;
    assert_eq!(ids(&events), [1, 2, 3, 4]);

    // At whatever moment of a poll, or of the worker's start, the node may be killed.
    for what in ["eggs", "rice", "corn"] {
        node.kill_9();
        postgres.sql(&format!(
            "insert into orders (what) values ('{what}'), ('more {what}')"
        ));
        node.restart().await;
    }
    node.events_until(&source, |events| events.len() >= 10)
        .await;
    postgres.sql("insert into orders (what) values ('beans')");
    // Rows come in polls one after another: with the last one here, no other is under way.
    let events = node
        .events_until(&source, |events| ids(events).contains(&11))
        .await;
    assert_eq!(ids(&events), (1..=11).collect::<Vec<_>>());
    let last = events
        .iter()
        .find(|event| event["event"]["id"] == 11)
        .unwrap();
    assert_eq!(last["event"], json!({"id": 11, "what": "beans"}));
    assert_eq!(node.channel(&source, "$errors").await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_table_without_a_unique_column_is_refused_with_the_components_own_words() {
    let postgres = Postgres::start().await;
    postgres.sql("create table orders (id int, what text)");
    postgres.sql("insert into orders values (1, 'tea'), (1, 'bread')");
    let node = Node::builder().private_network().start().await;
    let account = node.account("postgresql", postgres.account_fields()).await;
    let props = json!({
        "postgresql": {"authProvisionId": account}, "schema": "public", "table": "orders", "column": "id",
    });
    let error = node.try_deploy(NEW_ROW, props).await.is(422).error();
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("The column selected contains duplicate values"),
        "{error}"
    );
    assert_eq!(node.get("/users/me/sources").await.is(200).items().len(), 0);
}
