//! The commands on existing sources and accounts: how one is found and what is sent.

use serde_json::{Value, json};

use crate::node::Node;

fn source(id: &str, name: &str, active: bool) -> Value {
    json!({
        "id": id, "name": name, "name_slug": name.to_lowercase(), "component_id": "sc_1",
        "active": active, "created_at": 1_767_225_600, "configured_props": {"url": "x"},
    })
}

fn two_sources(node: &Node) {
    let sources = json!([source("dc_1", "One", true), source("dc_2", "Two", false)]);
    node.list("GET /v1/users/me/sources", sources);
}

#[tokio::test]
async fn list_reads_every_page() {
    let node = Node::start().await;
    node.on("GET /v1/users/me/sources", |request| {
        let from: usize = request
            .query
            .get("after")
            .map_or(0, |after| after.parse().unwrap());
        let limit: usize = request.query["limit"].parse().unwrap();
        let ids: Vec<_> = (from..250).take(limit).collect();
        let sources: Vec<_> = ids
            .iter()
            .map(|id| source(&format!("dc_{id}"), "a", true))
            .collect();
        let info = json!({"end_cursor": (from + ids.len()).to_string()});
        (200, json!({"page_info": info, "data": sources}))
    });
    let seen = node.run(&["list", "--json"]).await;
    let listed = seen.json();
    let listed = listed.as_array().unwrap();
    assert_eq!(listed.len(), 250);
    assert_eq!(listed[249]["id"], "dc_249");
}

#[tokio::test]
async fn list_is_a_table_for_people() {
    let node = Node::start().await;
    let mut two = source("dc_2", "Two", false);
    two["health"] = json!({
        "last_run": {"outcome": "threw", "started_at_ms": 1_767_225_600_000_i64},
        "next_tick_at_ms": 1_767_225_600_000_i64, "last_event": null,
    });
    let sources = json!([source("dc_1", "One", true), two]);
    node.list("GET /v1/users/me/sources", sources);
    let seen = node.run(&["list"]).await;
    let asked = &node.received("GET /v1/users/me/sources")[0].query;
    assert_eq!(asked["expand"], "health");
    assert_eq!(
        seen.stdout,
        "ID     NAME   ACTIVE   LAST RUN                          LAST EVENT   NEXT TICK                  TRIGGER   CREATED\n\
         dc_1   One    yes      -                                 -            -                                    2026-01-01T00:00:00Z\n\
         dc_2   Two    no       threw, 2026-01-01T00:00:00.000Z   -            2026-01-01T00:00:00.000Z             2026-01-01T00:00:00Z\n"
    );
}

#[tokio::test]
async fn sources_are_found_by_id_name_or_slug() {
    let node = Node::start().await;
    two_sources(&node);
    node.on("DELETE /v1/sources/dc_2", |_| (204, Value::Null));
    for called in ["dc_2", "Two", "two"] {
        let seen = node.run(&["delete", called]).await;
        assert_eq!((seen.code, seen.stdout.as_str()), (0, "dc_2\n"), "{called}");
    }
    let seen = node.run(&["delete", "three"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr.contains("no source is called three"),
        "{}",
        seen.stderr
    );
}

#[tokio::test]
async fn pause_and_resume_change_nothing_else() {
    let node = Node::start().await;
    node.data("PATCH /v1/sources/dc_1", source("dc_1", "One", false));
    assert_eq!(node.run(&["pause", "dc_1"]).await.code, 0);
    assert_eq!(node.run(&["resume", "dc_1"]).await.code, 0);
    let bodies: Vec<_> = node
        .received("PATCH /v1/sources/dc_1")
        .into_iter()
        .map(|request| request.body)
        .collect();
    assert_eq!(bodies, [json!({"active": false}), json!({"active": true})]);
}

#[tokio::test]
async fn new_code_leaves_a_paused_source_paused() {
    let node = Node::start().await;
    node.data("GET /v1/sources/dc_2", source("dc_2", "Two", false));
    let props = json!([{"name": "url", "type": "string"}]);
    node.data(
        "POST /v1/components",
        json!({"id": "sc_2", "configurable_props": props}),
    );
    node.data("PUT /v1/sources/dc_2", source("dc_2", "Two", false));
    let seen = node
        .run(&["update", "dc_2", "https://example.com/a.mjs"])
        .await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        node.received("PUT /v1/sources/dc_2")[0].body,
        json!({"component_id": "sc_2", "active": false})
    );
}

#[tokio::test]
async fn an_update_without_code_is_a_patch_and_one_without_anything_is_refused() {
    let node = Node::start().await;
    node.data("GET /v1/sources/dc_1", source("dc_1", "One", true));
    let props = json!([{"name": "url", "type": "string"}]);
    node.data(
        "GET /v1/components/sc_1",
        json!({"configurable_props": props}),
    );
    node.data("PATCH /v1/sources/dc_1", source("dc_1", "New", true));
    let seen = node
        .run(&["update", "dc_1", "--name", "New", "--prop", "url=y"])
        .await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(
        node.received("PATCH /v1/sources/dc_1")[0].body,
        json!({"name": "New", "configured_props": {"url": "y"}})
    );
    assert_eq!(node.run(&["update", "dc_1"]).await.code, 2);
}

#[tokio::test]
async fn describe_takes_a_source_or_a_component() {
    let node = Node::start().await;
    two_sources(&node);
    let component = json!({"id": "sc_1", "key": "rss-new", "configurable_props": [
        {"name": "url", "type": "string", "label": "Feed URL"},
    ]});
    node.data("GET /v1/components/rss-new", component);
    let mut one = source("dc_1", "One", true);
    one["health"] = json!({
        "last_run": {"outcome": "threw", "started_at_ms": 1_767_225_600_000_i64},
        "failing_since_ms": 1_767_225_600_000_i64, "next_tick_at_ms": null,
        "last_event": {"indexed_at_ms": 1_767_225_600_000_i64, "summary": "Order 7"},
    });
    node.data("GET /v1/sources/dc_1", one);
    let seen = node.run(&["describe", "One"]).await;
    for part in [
        "url    \"x\"",
        "LAST RUN        threw, 2026-01-01T00:00:00.000Z\n",
        "FAILING SINCE   2026-01-01T00:00:00.000Z\n",
        "LAST EVENT      2026-01-01T00:00:00.000Z, Order 7\n",
    ] {
        assert!(seen.stdout.contains(part), "{}", seen.stdout);
    }
    let seen = node.run(&["describe", "rss-new"]).await;
    assert!(
        seen.stdout.contains("url    string   yes        Feed URL"),
        "{}",
        seen.stdout
    );
    let seen = node.run(&["describe", "nothing"]).await;
    assert_eq!(seen.code, 1);
    assert!(
        seen.stderr
            .contains("no source or component is called nothing")
    );
}

#[tokio::test]
async fn a_run_that_throws_fails_and_shows_the_stack() {
    let node = Node::start().await;
    let invocation = json!({
        "invocation_id": "i_1", "events": 2,
        "outcome": {"status": "threw", "error": {
            "name": "Error", "message": "boom", "stack": "Error: boom\n    at run",
        }},
        "logs": [{"level": "info", "message": "hello", "ts": 1}],
    });
    node.data("POST /v1/sources/dc_1/run", invocation);
    let seen = node.run(&["run", "dc_1", "--event", "{\"a\":1}"]).await;
    assert_eq!(seen.code, 1);
    assert_eq!(
        seen.stdout,
        "INVOCATION   i_1\nOUTCOME      threw\nEVENTS       2\n"
    );
    assert_eq!(
        seen.stderr,
        "info   hello\nerror: Error: boom\n    at run\n"
    );
    let sent = &node.received("POST /v1/sources/dc_1/run")[0].body;
    assert_eq!(sent, &json!({"event": {"a": 1}}));
    assert_eq!(node.run(&["run", "dc_1", "--event", "{"]).await.code, 2);
}

#[tokio::test]
async fn accounts_are_added_listed_and_deleted() {
    let node = Node::start().await;
    let account = json!({"id": "apn_1", "app": "slack", "name": "work", "created_at": 0});
    node.data("POST /v1/accounts", account.clone());
    node.list("GET /v1/accounts", json!([account]));
    node.on("DELETE /v1/accounts/apn_1", |_| (204, Value::Null));
    let add = [
        "accounts",
        "add",
        "slack",
        "--field",
        "token=a=b",
        "--field",
        "team=t",
        "--name",
        "work",
    ];
    assert_eq!(node.run(&add).await.code, 0);
    assert_eq!(
        node.received("POST /v1/accounts")[0].body,
        json!({"app": "slack", "fields": {"token": "a=b", "team": "t"}, "name": "work"})
    );
    let seen = node.run(&["accounts", "list"]).await;
    assert!(
        seen.stdout.contains("apn_1   slack   work"),
        "{}",
        seen.stdout
    );
    node.list("GET /v1/accounts/apn_1/users", json!([]));
    let seen = node.run(&["accounts", "delete", "work"]).await;
    assert_eq!(seen.code, 0, "{}", seen.stderr);
    assert_eq!(node.received("DELETE /v1/accounts/apn_1").len(), 1);
}
