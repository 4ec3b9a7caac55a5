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
    let seen = node.cli(&["events", "poller"]).await.ok();
    assert_eq!(seen.stdout, "");
    let next = "`headwater runs poller`";
    assert!(seen.stderr.contains(next), "{}", seen.stderr);
    let seen = node.cli(&["logs", "poller"]).await.ok();
    let error = "  error  Error: no such board\n";
    assert!(seen.stdout.contains(error), "{}", seen.stdout);
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
    assert_eq!(wrong.code, 2);
    let told = "--since yesterday is no time";
    assert!(wrong.stderr.contains(told), "{}", wrong.stderr);
    assert_eq!(node.cli(&["runs"]).await.code, 2);
}

#[tokio::test]
async fn runs_of_all_sources_are_listed_together() {
    let node = Node::start().await;
    let nothing = node.cli(&["runs", "list"]).await.ok();
    assert!(nothing.stderr.contains("no runs yet"), "{}", nothing.stderr);
    for (name, fails) in [("one", "{}"), ("other", "throw new Error('no such board')")] {
        let code =
            format!("export default {{ name: '{name}', version: '0.0.1', run() {{ {fails} }} }}");
        let source = node.deploy(&code, json!({})).await;
        node.run(&source, json!({})).await;
    }
    let all = node.cli(&["runs", "list"]).await.ok().stdout;
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(lines.len(), 3, "{all}");
    for (line, parts) in [
        (
            lines[1],
            ["other", "manual", "failed (threw)", "no such board"],
        ),
        (lines[2], ["one", "manual", "succeeded", "0"]),
    ] {
        assert!(parts.iter().all(|part| line.contains(part)), "{all}");
    }
    for filter in [
        ["--status", "failed,open"],
        ["other", "-n=9"],
        ["-q", "BOARD"],
    ] {
        let found = node
            .cli(&[&["runs", "list"][..], &filter].concat())
            .await
            .ok();
        assert_eq!(found.stdout.lines().count(), 2, "{}", found.stdout);
        assert!(found.stdout.contains("no such board"), "{}", found.stdout);
    }
    let none = node
        .cli(&["runs", "list", "--min-ms", "3600000"])
        .await
        .ok();
    assert!(none.stderr.contains("no such runs"), "{}", none.stderr);
}
