//! The key-value map of a source, as large as it may become.

use headwater_integration::{Node, payloads};
use serde_json::json;

const HOARDER: &str = r#"
export default {
  name: "Hoarder",
  version: "0.0.1",
  props: { db: "$.service.db" },
  run({ key, mib }) {
    let refusal = null;
    try {
      if (mib === 0) this.db.delete(key);
      else this.db.set(key, "x".repeat(mib * 1024 * 1024));
    } catch (error) {
      refusal = `${error.name}: ${error.message}`;
    }
    this.$emit({ refusal, a: this.db.get("a")?.length ?? 0, b: this.db.get("b")?.length ?? 0 });
  },
};
"#;

#[tokio::test]
async fn a_map_is_bounded_and_can_be_shrunk_across_restarts() {
    const MIB: usize = 1024 * 1024;
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(HOARDER, json!({})).await;
    for (key, mib) in [("a", 9), ("b", 9), ("b", 6), ("a", 0)] {
        let report = node.run(&source, json!({"key": key, "mib": mib})).await;
        assert_eq!(report["outcome"]["status"], "returned", "{report}");
        if key == "b" && mib == 6 {
            node.restart().await;
        }
    }
    let events = payloads(&node.events(&source).await);
    let refusal = events[1]["refusal"].as_str().unwrap();
    assert!(
        refusal.starts_with("RangeError: db.set: with \"b\"") && refusal.contains("16777216"),
        "{refusal}"
    );
    assert_eq!(
        (&events[1]["a"], &events[1]["b"]),
        (&json!(9 * MIB), &json!(0))
    );
    assert_eq!(
        events[2],
        json!({"refusal": null, "a": 9 * MIB, "b": 6 * MIB})
    );
    assert_eq!(events[3], json!({"refusal": null, "a": 0, "b": 6 * MIB}));
}
