//! `@pipedream/mysql` on a real MariaDB server, over TLS: sources that poll, actions, and options and props
//! that come out of the database.

use headwater_integration::{Mysql, Node, fields};
use serde_json::{Value, json};

const NEW_ROW: &str = "npm:@pipedream/mysql@2.5.0/sources/new-row/new-row.mjs";
const NEW_COLUMN: &str = "npm:@pipedream/mysql@2.5.0/sources/new-column/new-column.mjs";
const CREATE_ROW: &str = "npm:@pipedream/mysql@2.5.0/actions/create-row/create-row.mjs";
const FIND_ROW: &str = "npm:@pipedream/mysql@2.5.0/actions/find-row/find-row.mjs";
const QUERY: &str = "npm:@pipedream/mysql@2.5.0/actions/execute-raw-query/execute-raw-query.mjs";

async fn start() -> (Mysql, Node, Value) {
    let mysql = Mysql::start().await;
    mysql.sql("create table orders (id int auto_increment primary key, what varchar(20) not null)");
    let route = format!("--resolve={}=127.0.0.1:{}", Mysql::HOST, mysql.port());
    let node = Node::builder().private_network().flag(&route).start().await;
    let account = node.account("mysql", Mysql::account_fields()).await;
    (
        mysql,
        node,
        json!({"mysql": {"authProvisionId": account}, "table": "orders"}),
    )
}

#[tokio::test]
async fn rows_and_columns_are_emitted_once() {
    let (mysql, node, mut props) = start().await;
    mysql.sql("insert into orders (what) values ('tea'), ('milk')");
    let columns = node.deploy_package(NEW_COLUMN, props.clone()).await;
    props["column"] = json!("id");
    let rows = node.deploy_package(NEW_ROW, props).await;
    let poll = async |source| {
        let report = node.run(source, Value::Null).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
    };
    poll(&columns).await;
    poll(&rows).await;
    mysql.sql("insert into orders (what) values ('salt'); alter table orders add column price int");
    poll(&columns).await;
    poll(&rows).await;
    let events = node.events(&rows).await;
    // Each poll emits the newest row first.
    assert_eq!(fields(&events, "what"), ["milk", "tea", "salt"]);
    assert_eq!(
        events[2]["event"],
        json!({"id": 3, "what": "salt", "price": null})
    );
    assert_eq!(events[2]["metadata"]["summary"], "New Row Added id: 3");
    let names = fields(&node.events(&columns).await, "Field");
    assert_eq!(names, ["id", "what", "price"]);
}

#[tokio::test]
async fn actions_are_configured_out_of_the_database() {
    let (mysql, node, mut props) = start().await;
    for action in [CREATE_ROW, FIND_ROW, QUERY] {
        node.save_package(action).await;
    }
    let account = json!({"mysql": props["mysql"]});
    let tables = json!({"prop": "table", "configured_props": account});
    let tables = node.options("mysql-create-row", tables).await;
    assert_eq!(
        tables["options"],
        json!([{"label": "orders", "value": "orders"}])
    );

    // A prop for each column, once the table is chosen.
    let body = json!({"configured_props": props});
    let reloaded = node
        .post("/components/mysql-create-row/props", body)
        .await
        .is(200)
        .data();
    let names = reloaded["configurable_props"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prop| prop["name"].clone());
    assert_eq!(names.collect::<Vec<_>>(), ["mysql", "table", "id", "what"]);
    props["what"] = json!("rice");
    let report = node.run_action("mysql-create-row", props.clone()).await;
    assert_eq!(
        report["summary"], "Successfully added 1 row(s) to table orders",
        "{report}"
    );
    assert_eq!(mysql.sql("select id, what from orders"), "1\trice");

    let found = json!({
        "mysql": props["mysql"], "table": "orders", "column": "what", "operator": "like", "value": "r%",
    });
    let found = node.returned("mysql-find-row", found).await;
    assert_eq!(found, json!([{"id": 1, "what": "rice"}]));
    let query =
        json!({"query": "select count(*) as n from orders where what = ?", "params": ["rice"]});
    let counted = node.returned(
        "mysql-execute-raw-query",
        json!({"mysql": props["mysql"], "sql": query}),
    );
    assert_eq!(counted.await, json!([{"n": 1}]));
}
