//! `headwater events`, `headwater logs` and `headwater run`.

use std::{process::Stdio, sync::Arc};

use headwater_integration::{Node, Receiver, Reply, payloads};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    sync::Notify,
};

use crate::code::{EMITTER, LOGS_AND_WAITS};

#[tokio::test]
async fn events_are_oldest_first_as_lines_and_as_json() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    let emits = json!([[{"n": 1}, {}], [{"n": 2}, {"summary": "Two", "name": "news"}]]);
    node.run(&source, json!({"emits": emits})).await;
    let seen = node.cli(&["events", "emitter"]).await.ok();
    let lines: Vec<_> = seen
        .stdout
        .lines()
        .map(|line| line.split_once("  ").unwrap().1)
        .collect();
    assert_eq!(lines, ["-  {\"n\":1}", "news  Two"]);
    let items = node
        .cli(&["events", &source.id, "--json"])
        .await
        .ok()
        .json();
    assert_eq!(
        payloads(items.as_array().unwrap()),
        [json!({"n": 1}), json!({"n": 2})]
    );
    let one = node
        .cli(&["events", &source.id, "-n", "1", "--json"])
        .await
        .ok()
        .json();
    assert_eq!(payloads(one.as_array().unwrap()), [json!({"n": 2})]);
    let whole = node.cli(&["events", "emitter", "--full", "-n", "1"]).await;
    let whole = whole.ok().stdout;
    for part in [
        "SUMMARY   Two\n",
        "CHANNEL   news\n",
        "RUN       inv_",
        "{\n  \"n\": 2\n}\n",
    ] {
        assert!(whole.contains(part), "{whole}");
    }
    let id = one[0]["id"].as_str().unwrap();
    let found = node.cli(&["events", "emitter", id]).await.ok();
    assert!(found.stdout.contains("\"n\": 2"), "{}", found.stdout);
    let found = node.cli(&["events", "emitter", id, "--json"]).await.ok();
    assert_eq!(found.json()["event"], json!({"n": 2}));
    let since = node.cli(&["events", "emitter", "--since", "1h"]).await.ok();
    assert_eq!(since.stdout, seen.stdout);
    let later = ["events", "emitter", "--since", "2100-01-01"];
    assert_eq!(node.cli(&later).await.ok().stdout, "");
    let channel = node
        .cli(&["events", &source.id, "--channel", "news", "--json"])
        .await
        .ok()
        .json();
    assert_eq!(channel.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn following_shows_events_as_they_are_emitted() {
    let node = Node::start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [[0, {}]]})).await;
    let mut command = node.command(&["events", &source.id, "-f", "--json"]);
    let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for n in 0..3 {
        let line = lines.next_line().await.unwrap().unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["event"], n);
        node.run(&source, json!({"emits": [[n + 1, {}]]})).await;
    }
    child.kill().await.unwrap();
}

#[tokio::test]
async fn following_goes_on_through_a_restart() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(EMITTER, json!({})).await;
    node.run(&source, json!({"emits": [[0, {}]]})).await;
    let mut command = node.command(&["events", &source.id, "-f", "--json"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut notes = BufReader::new(child.stderr.take().unwrap()).lines();
    for n in 0..6 {
        let line = lines.next_line().await.unwrap().unwrap();
        let event: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(event["event"], n);
        if n == 2 {
            node.kill_9();
            let note = notes.next_line().await.unwrap().unwrap();
            assert!(note.contains("still trying"), "{note}");
            node.restart().await;
        }
        if n < 5 {
            node.run(&source, json!({"emits": [[n + 1, {}]]})).await;
        }
    }
    let note = notes.next_line().await.unwrap().unwrap();
    assert!(note.contains("connected again"), "{note}");
    child.kill().await.unwrap();
}

#[tokio::test]
async fn following_a_log_shows_lines_while_their_run_goes_on_and_none_twice() {
    let node = Node::builder().private_network().start().await;
    let receiver = Receiver::start().await;
    let go_on = Arc::new(Notify::new());
    let until = Arc::clone(&go_on);
    receiver.answer_later(move |_| {
        let until = Arc::clone(&until);
        async move {
            until.notified().await;
            Reply::status(200)
        }
    });
    let props = json!({ "url": receiver.url() });
    let source = node.deploy(LOGS_AND_WAITS, props).await;
    let mut command = node.command(&["logs", &source.id, "-f"]);
    let mut child = command.stderr(Stdio::inherit()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..2 {
        let running = node.run(&source, json!({}));
        let reading = async {
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(line.ends_with("<b>one</b>"), "{line}");
            go_on.notify_one();
            let line = lines.next_line().await.unwrap().unwrap();
            assert!(line.ends_with("two"), "{line}");
        };
        tokio::join!(running, reading);
    }
    child.kill().await.unwrap();
}

#[tokio::test]
async fn a_run_shows_its_report_and_its_logs() {
    let node = Node::start().await;
    let code = r#"
export default {
  name: "Runner",
  version: "0.0.1",
  run(event) { console.log("hello"); this.$emit(event); if (event.fails) throw new Error("boom"); return 7; },
};
"#;
    let source = node.deploy(code, json!({})).await;
    let seen = node
        .cli(&["run", "runner", "--event", "{\"a\": 1}"])
        .await
        .ok();
    assert!(
        seen.stdout
            .contains("OUTCOME      returned\nEVENTS       1\nVALUE        7\n"),
        "{}",
        seen.stdout
    );
    assert_eq!(seen.stderr, "info   hello\n");
    let seen = node
        .cli(&["run", "runner", "--event", "{\"fails\": true}", "--json"])
        .await;
    assert_eq!(seen.code, 1);
    assert_eq!(seen.json()["outcome"]["status"], "threw");
    assert!(seen.stderr.contains("boom"), "{}", seen.stderr);
    assert_eq!(node.cli(&["run", "runner", "--event", "{"]).await.code, 2);

    let logs = node.cli(&["logs", "runner"]).await.ok();
    // The stack's further lines have no time before them.
    let lines: Vec<_> = logs
        .stdout
        .lines()
        .filter(|line| line.contains("Z  "))
        .map(|line| line.split_once("  ").unwrap().1)
        .collect();
    assert_eq!(
        lines,
        ["info   hello", "info   hello", "error  Error: boom"]
    );
    let logs = node
        .cli(&["logs", &source.id, "-n", "1", "--json"])
        .await
        .ok()
        .json();
    assert_eq!(logs[0]["event"]["message"], "hello");
}
