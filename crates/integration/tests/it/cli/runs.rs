//! `headwater runs`.

use headwater_integration::Node;
use serde_json::json;

/// A poller that fails, or finds nothing, as its prop says.
const POLLER: &str = r#"
export default {
  name: "Poller",
  version: "0.0.1",
  props: { timer: "$.interface.timer", fails: "boolean" },
  run() {
    if (this.fails) throw new Error("no such board");
  },
};
"#;

#[tokio::test]
async fn a_poller_that_is_quiet_is_found_out_also_after_a_kill() {
    let mut node = Node::builder()
        .own_address()
        .flag("--retained-runs=50")
        .flag("--retained-failed-runs=50")
        .start()
        .await;
    let props = json!({"timer": {"intervalSeconds": 1}, "fails": true});
    let source = node.deploy(POLLER, props).await;
    node.channel_until(&source, "$errors", |errors| !errors.is_empty())
        .await;
    for quiet in ["events", "logs"] {
        let seen = node.cli(&[quiet, "poller"]).await.ok();
        assert_eq!(seen.stdout, "");
        assert!(
            seen.stderr.contains("`headwater runs poller`"),
            "{}",
            seen.stderr
        );
    }
    node.cli(&["pause", "poller"]).await.ok();
    let failed = ["runs", "poller", "--failed", "--since", "1h"];
    let seen = node.cli(&failed).await.ok();
    let line = seen.stdout.lines().nth(1).unwrap();
    for part in ["timer", "threw", "no such board"] {
        assert!(line.contains(part), "{}", seen.stdout);
    }

    let before = node.cli(&["runs", &source.id, "--json"]).await.ok().json();
    node.kill_9();
    node.restart().await;
    let after = node.cli(&["runs", &source.id, "--json"]).await.ok().json();
    assert_eq!(before, after);
    let id = after[0]["id"].as_str().unwrap();
    let seen = node.cli(&["runs", "describe", id]).await.ok();
    assert!(seen.stdout.contains("TRIGGER     timer"), "{}", seen.stdout);
    assert!(
        seen.stdout.contains("ERRORS\nError: no such board"),
        "{}",
        seen.stdout
    );

    let none = node.cli(&["runs", "poller", "--outcome", "returned"]).await;
    assert_eq!(none.ok().stdout, "");
    let wrong = node.cli(&["runs", "poller", "--since", "yesterday"]).await;
    assert_eq!(wrong.code, 1);
    assert!(wrong.stderr.contains("since"), "{}", wrong.stderr);
    assert_eq!(node.cli(&["runs"]).await.code, 2);
}
