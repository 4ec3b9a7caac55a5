//! `POST /components/{key|id}/try`.

use headwater_integration::Node;
use serde_json::json;

const CODE: &str = r#"
export default { name: "Orders", key: "shop-orders", version: "0.0.1",
  props: { shop: "string", key: { type: "string", secret: true, optional: true },
    http: { type: "$.interface.http", customResponse: true }, timer: { type: "$.interface.timer", default: { intervalSeconds: 60 } },
    db: "$.service.db" },
  hooks: { deploy() { throw new Error("no hook runs"); } },
  async run(event) {
    console.log("trying", this.shop);
    if (event.fails) throw new Error("the shop did not answer");
    const seen = this.db.get("seen") ?? 0;
    this.db.set("seen", seen + 1);
    this.http.respond({ status: 201, body: "made" });
    this.$emit({ shop: this.shop, key: this.key, seen, at: typeof this.http.endpoint, every: this.timer.intervalSeconds, event },
      { id: 7, summary: "Order 7" });
    this.$emit("again", { name: "other" });
    for (let at = 0; at < (event.many ?? 0); at++) this.$emit(at);
  } };"#;

#[tokio::test]
async fn a_source_runs_once_and_leaves_nothing() {
    let node = Node::start().await;
    node.save(CODE).await;
    let path = "/components/shop-orders/try";
    for _ in 0..2 {
        let body = json!({"configured_props": {"shop": "mine"}, "event": {"order": 7}});
        let report = node.post(path, body).await.is(200).data();
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
        assert_eq!(report["emitted"], 2);
        let event = json!({
            "shop": "mine", "seen": 0, "at": "string", "every": 60,
            "event": {"order": 7},
        });
        let first = json!({"event": event, "name": "", "summary": "Order 7", "id": 7});
        assert_eq!(report["events"][0], first, "no map is kept");
        assert_eq!(
            report["events"][1],
            json!({"event": "again", "name": "other"})
        );
        assert_eq!(report["response"]["status"], 201);
        assert_eq!(report["response"]["body"], "made");
        assert_eq!(report["logs"][0]["message"], "trying mine");
    }
    assert_eq!(node.get("/users/me/sources").await.is(200).items().len(), 0);
    let many = json!({"configured_props": {"shop": "mine"}, "event": {"many": 500}});
    let report = node.post(path, many).await.is(200).data();
    assert_eq!(report["emitted"], 502);
    assert_eq!(report["events"].as_array().unwrap().len(), 100);
}

#[tokio::test]
async fn a_trial_takes_the_values_of_the_source_that_is_to_be_updated() {
    let node = Node::start().await;
    let quiet = CODE.replace("throw new Error(\"no hook runs\")", "");
    let props = json!({"shop": "mine", "key": "hush"});
    let source = node.deploy(&quiet, props).await;
    let changed = quiet.replace("Order 7", "Number 7");
    let component = node.save(&changed.replace("0.0.1", "0.0.2")).await;
    let path = format!("/components/{}/try", component["id"].as_str().unwrap());
    let body = json!({"source_id": source.id, "configured_props": {}});
    let report = node.post(&path, body).await.is(200).data();
    let event = &report["events"][0];
    assert_eq!(event["summary"], "Number 7");
    assert_eq!(event["event"]["shop"], "mine");
    assert_eq!(event["event"]["key"], "hush");
    assert_eq!(
        node.events(&source).await.len(),
        0,
        "the source emitted nothing"
    );
    let bob = node.user("bob").await;
    let body = json!({"source_id": source.id, "configured_props": {"shop": "his"}});
    let own = json!({"component_code": quiet});
    let own = bob.post("/components", own).await.is(200).data();
    let path = format!("/components/{}/try", own["id"].as_str().unwrap());
    bob.post(&path, body).await.is(404);
}

#[tokio::test]
async fn failures_are_outcomes_and_wrong_values_are_told() {
    let node = Node::start().await;
    node.save(CODE).await;
    let path = "/components/shop-orders/try";
    let body = json!({"configured_props": {"shop": "mine"}, "event": {"fails": true}});
    let report = node.post(path, body).await.is(200).data();
    assert_eq!(
        report["outcome"]["error"]["message"],
        "the shop did not answer"
    );
    assert_eq!(report["emitted"], 0);
    let error = node.post(path, json!({})).await.is(422).error();
    assert_eq!(error["param"], "configured_props.shop");
    let action =
        r#"export default { name: "A", key: "a-a", version: "0.0.1", type: "action", run() {} };"#;
    node.save(action).await;
    let error = node.post("/components/a-a/try", json!({})).await.is(400);
    assert!(error.text.contains("is an action"), "{}", error.text);
    node.post("/components/nobodys-key/try", json!({}))
        .await
        .is(404);
}
