//! `GET /data_stores`.

use headwater_integration::{Client, Node};
use serde_json::{Value, json};

/// A source of this name whose run writes what its event says: `{key: value}`.
const WRITER: &str = r#"
export default {
  name: "Writer",
  version: "0.0.1",
  props: { store: { type: "data_store" }, ttl: { type: "integer", optional: true } },
  async run(event) {
    for (const [key, value] of Object.entries(event)) {
      await this.store.set(key, value, { ttl: this.ttl });
    }
  },
};
"#;

/// Writes records to a data store of the client's user, or of a workspace.
pub(super) async fn write(client: &Client, store: &str, workspace: Option<&str>, records: Value) {
    let body = json!({
        "component_code": WRITER,
        "configured_props": {"store": store},
        "workspace_id": workspace,
    });
    let source = client.post("/sources", body).await.is(200).data();
    let run = format!("/sources/{}/run", source["id"].as_str().unwrap());
    let report = client.post(&run, json!({"event": records})).await;
    assert_eq!(report.is(200).data()["outcome"]["status"], "returned");
}

#[tokio::test]
async fn data_stores_are_listed_by_name_in_pages() {
    let node = Node::start().await;
    for name in ["orders", "Müll & more", "at:b"] {
        write(&node, name, None, json!({"k": 1, "l": "x"})).await;
    }
    let all = node.get("/data_stores").await.is(200).items();
    let names: Vec<_> = all.iter().map(|store| store["name"].clone()).collect();
    assert_eq!(names, ["Müll & more", "at:b", "orders"]);
    assert_eq!(
        (&all[0]["records"], &all[0]["bytes"]),
        (&json!(2), &json!(6))
    );
    let page = node.get("/data_stores?limit=2").await.is(200);
    let cursor = page.json()["page_info"]["end_cursor"].clone();
    let rest = node
        .get(&format!("/data_stores?after={}", cursor.as_str().unwrap()))
        .await
        .is(200);
    assert_eq!(rest.items(), all[2..]);
    node.get("/data_stores?after=orders").await.is(400);
    let stranger = node.user("stranger").await;
    assert_eq!(
        stranger.get("/data_stores").await.is(200).items(),
        [Value::Null; 0]
    );
}
