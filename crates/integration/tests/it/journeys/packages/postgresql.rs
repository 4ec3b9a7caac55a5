//! `@pipedream/postgresql` on a real server: a source of changed rows and one of new columns, and actions.
//! Its `new-row` is in `postgresql_new_row.rs`.

use headwater_integration::{Node, Postgres, fields, payloads};
use serde_json::{Value, json};

const CHANGED_ROW: &str =
    "npm:@pipedream/postgresql@2.2.4/sources/new-or-updated-row/new-or-updated-row.mjs";
const NEW_COLUMN: &str = "npm:@pipedream/postgresql@2.2.4/sources/new-column/new-column.mjs";
const INSERT: &str = "npm:@pipedream/postgresql@2.2.4/actions/insert-row/insert-row.mjs";
const FIND: &str = "npm:@pipedream/postgresql@2.2.4/actions/find-row/find-row.mjs";
const QUERY: &str =
    "npm:@pipedream/postgresql@2.2.4/actions/execute-custom-query/execute-custom-query.mjs";

async fn start() -> (Postgres, Node, Value) {
    let postgres = Postgres::start().await;
    postgres.sql(
        "create table orders (id serial primary key, what text not null, at timestamptz default now())",
    );
    let node = Node::builder().private_network().start().await;
    let account = node.account("postgresql", postgres.account_fields()).await;
    let props = json!({
        "postgresql": {"authProvisionId": account}, "schema": "public", "table": "orders",
    });
    (postgres, node, props)
}

#[tokio::test]
async fn changed_rows_and_new_columns_are_emitted() {
    let (postgres, node, props) = start().await;
    postgres.sql("insert into orders (what) values ('tea'), ('milk')");
    let mut of_rows = props.clone();
    of_rows["identifierColumn"] = json!("id");
    of_rows["timestampColumn"] = json!("at");
    let rows = node.deploy_package(CHANGED_ROW, of_rows).await;
    let columns = node.deploy_package(NEW_COLUMN, props).await;
    let poll = async |source| {
        let report = node.run(source, Value::Null).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    };
    poll(&columns).await;
    let before = node.events(&rows).await.len();
    postgres
        .sql("update orders set what = 'oat milk', at = now() + interval '1 minute' where id = 2");
    postgres.sql("alter table orders add column price int");
    poll(&rows).await;
    poll(&columns).await;
    let events = node.events(&rows).await;
    assert_eq!(fields(&events[before..], "what"), ["oat milk"]);
    let columns = node.events(&columns).await;
    assert_eq!(payloads(&columns)[columns.len() - 1], "price");
}

#[tokio::test]
async fn actions_read_and_write_rows() {
    let (postgres, node, mut props) = start().await;
    for action in [INSERT, FIND, QUERY] {
        node.save_package(action).await;
    }
    let tables = json!({"prop": "table", "configured_props": props});
    let tables = node.options("postgresql-insert-row", tables).await;
    assert_eq!(
        tables["options"],
        json!([{"label": "orders", "value": "orders"}])
    );

    props["rowValues"] = json!(r#"[{"what": "rice"}, {"what": "beans"}]"#);
    let report = node
        .run_action("postgresql-insert-row", props.clone())
        .await;
    assert_eq!(
        report["summary"], "Successfully inserted 2 rows",
        "{report}"
    );
    assert_eq!(
        postgres.sql("select id, what from orders order by id"),
        "1|rice\n2|beans"
    );

    props.as_object_mut().unwrap().remove("rowValues");
    props["column"] = json!("what");
    props["value"] = json!("beans");
    let found = node.returned("postgresql-find-row", props.clone()).await;
    assert_eq!(
        found[0]["id"].as_i64().or(found["id"].as_i64()),
        Some(2),
        "{found}"
    );

    let query = json!({"query": "select count(*)::int as n from orders where what = $1", "params": ["rice"]});
    let query = json!({"postgresql": props["postgresql"], "sql": query});
    assert_eq!(
        node.returned("postgresql-execute-custom-query", query)
            .await,
        json!([{"n": 1}])
    );
    let broken = json!({"postgresql": props["postgresql"], "sql": {"query": "select * from nowhere", "params": []}});
    let report = node
        .run_action("postgresql-execute-custom-query", broken)
        .await;
    let error = report["outcome"]["error"]["message"].as_str().unwrap();
    assert!(error.contains("nowhere"), "{error}");
}
