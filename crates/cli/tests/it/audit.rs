//! The command on audit records: what is sent and what is printed.

use serde_json::{Value, json};

use crate::node::Node;

fn record(action: &str, actor: Value, target: Value) -> Value {
    json!({
        "id": "au_1", "at_ms": 1_767_225_600_123_u64, "action": action, "actor": actor, "target": target,
        "details": {}, "address": "192.0.2.1", "user_agent": "",
    })
}

#[tokio::test]
async fn records_are_a_table_of_80_columns_or_json() {
    let node = Node::start().await;
    let records = json!([
        record(
            "source.update",
            json!({"via": "key", "username": "ada"}),
            json!({"kind": "source", "id": "dc_1", "name": "orders"}),
        ),
        record(
            "session.refuse",
            json!({"via": "nobody", "username": null}),
            json!({"kind": "session", "id": "", "name": null}),
        ),
    ]);
    node.list("GET /v1/audit", records.clone());
    let seen = node.run(&["audit"]).await;
    assert_eq!(
        seen.stdout,
        "TIME                  ACTION           ACTOR    TARGET\n\
         2026-01-01T00:00:00   source.update    ada      orders\n\
         2026-01-01T00:00:00   session.refuse   nobody\n"
    );
    let filters = [
        "audit",
        "--actor",
        "ada",
        "--action",
        "source",
        "--target",
        "dc_1",
        "--since",
        "2026-01-01",
        "--until",
        "2026-01-02",
        "-n",
        "5",
        "--json",
    ];
    let seen = node.run(&filters).await;
    let printed: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(printed, records);
    let sent = node.received("GET /v1/audit");
    let query = &sent[1].query;
    for (name, value) in [
        ("actor", "ada"),
        ("action", "source"),
        ("target_id", "dc_1"),
        ("since", "2026-01-01"),
        ("until", "2026-01-02"),
        ("limit", "5"),
    ] {
        assert_eq!(query[name], value, "{query:?}");
    }
}

#[tokio::test]
async fn no_records_say_why() {
    let node = Node::start().await;
    node.list("GET /v1/audit", json!([]));
    let seen = node.run(&["audit"]).await;
    assert_eq!((seen.code, seen.stdout.as_str()), (0, ""));
    assert!(
        seen.stderr.contains("--retained-audit-days=0"),
        "{}",
        seen.stderr
    );
    let seen = node.run(&["audit", "--actor", "ada"]).await;
    assert!(
        seen.stderr.contains("no such audit records"),
        "{}",
        seen.stderr
    );
}
