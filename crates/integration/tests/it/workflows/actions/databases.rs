//! `@pipedream/postgresql` and `@pipedream/mysql` on real servers: rows that start runs, and steps that
//! write rows.

use headwater_integration::{Mysql, Node, Postgres};
use serde_json::json;

use super::{folder, returned, summary, with_trigger};
use crate::workflows::path_of;

#[tokio::test]
async fn a_new_row_starts_a_run_that_writes_one() {
    let postgres = Postgres::start().await;
    postgres.sql("create table orders (id serial primary key, what text not null, total numeric)");
    postgres.sql("create table order_state (order_id int primary key, state text, run text)");
    postgres.sql("insert into order_state values (1, 'new', '')");
    let node = Node::builder().private_network().start().await;
    let account = node.account("postgresql", postgres.account_fields()).await;
    let trigger = format!(
        "- type: source\n  uses: postgresql-new-row@3.0.8\n  props:\n    \
         postgresql: {{ authProvisionId: {account} }}\n    schema: public\n    table: orders\n    column: id\n    \
         timer: {{ intervalSeconds: 1 }}\n"
    );
    let steps = format!(
        r#"- namespace: mark
  uses: postgresql-upsert-row@2.0.8
  props:
    postgresql: {{ authProvisionId: {account} }}
    schema: public
    table: order_state
    conflictTarget: order_id
    rowValues: "{{{{({{order_id: event.id, state: 'notified', run: steps.trigger.context.trace_id}})}}}}"
- namespace: count
  uses: postgresql-execute-custom-query@3.0.4
  props:
    postgresql: {{ authProvisionId: {account} }}
    sql:
      auth: {{ app: postgresql }}
      query: "select state, count(*)::int as n from order_state where order_id <= $1 + 1 group by 1"
      params: ["{{{{event.id}}}}"]
"#
    );
    let workflow = with_trigger(&trigger, &steps).deployed(&node).await;
    for what in ["tea", "milk"] {
        postgres.sql(&format!(
            "insert into orders (what, total) values ('{what}', 1.5)"
        ));
    }
    let mut counted = Vec::new();
    let mut written = Vec::new();
    for run in workflow.ended(&node, 2).await {
        let run = node.get(&path_of(&run)).await.is(200).data();
        assert_eq!(run["status"], "succeeded", "{run:#}");
        assert_eq!(summary(&run, "mark"), "Row upserted");
        let (order, trace) = (&run["event"]["id"], run["trace_id"].as_str().unwrap());
        written.push(format!("{order}|notified|{trace}"));
        counted.push(returned(&run, "count").clone());
    }
    written.sort_unstable();
    let states = postgres.sql("select * from order_state order by 1");
    assert_eq!(states.lines().collect::<Vec<_>>(), written);
    // Either run may be the later one.
    let all = json!([{"state": "notified", "n": 2}]);
    assert!(counted.contains(&all), "{counted:?}");
}

#[tokio::test]
async fn a_prop_for_each_column_is_filled() {
    let mysql = Mysql::start().await;
    mysql.sql("create table orders (id int auto_increment primary key, what varchar(20), price decimal(5, 2))");
    let route = format!("--resolve={}=127.0.0.1:{}", Mysql::HOST, mysql.port());
    let node = Node::builder().private_network().flag(&route).start().await;
    let account = node.account("mysql", Mysql::account_fields()).await;
    let steps = format!(
        r#"- namespace: store
  uses: mysql-create-row@2.0.7
  _props_cursor: dyp_MeUXlgy
  props:
    mysql: {{ authProvisionId: {account} }}
    table: orders
    what: "{{{{event.what}}}}"
    price: "{{{{event.price}}}}"
"#
    );
    let workflow = folder(&steps).deployed(&node).await;
    let event = json!({"what": "rice", "price": 1.25});
    let run = workflow.run(&node, event, "succeeded").await;
    let told = "Successfully added 1 row(s) to table orders";
    assert_eq!(summary(&run, "store"), told);
    assert_eq!(mysql.sql("select * from orders"), "1\trice\t1.25");
}
