//! Stopping and starting a node: what is kept, and how it ends. Crashes under load are tested in
//! `crash.rs`.

use std::{os::unix::fs::PermissionsExt as _, sync::Arc};

use headwater_integration::{Node, Receiver, Reply, payloads};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::code::{COUNTING, INBOX, answering};

#[tokio::test]
async fn a_node_that_is_asked_to_stop_ends_well_and_keeps_everything() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    let endpoint = node.deploy(&answering("1"), json!({})).await;
    node.run(&source, json!({})).await;
    let before = node.events(&source).await;
    let status = node.terminate().await;
    assert!(status.success(), "{status}");
    node.restart().await;
    assert_eq!(node.get(&source.path()).await.is(200).data(), source.record);
    assert_eq!(node.events(&source).await, before);
    assert_eq!(node.get(endpoint.endpoint()).await.is(200).text, "1");
    node.run(&source, json!({})).await;
    assert_eq!(payloads(&node.events(&source).await), [1, 2]);
}

/// As the end of a terminal sends it; a second one hurries nothing.
#[tokio::test]
async fn a_node_that_is_hung_up_ends_as_if_it_were_asked_to_stop() {
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let (arrived, held) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let receiver = Receiver::start().await;
    let (arrives, released) = (Arc::clone(&arrived), Arc::clone(&held));
    receiver.answer_later(move |_| {
        arrives.notify_one();
        let released = Arc::clone(&released);
        async move {
            released.notified().await;
            Reply::status(200)
        }
    });
    let code = r#"
export default {
  name: "Waiting", version: "0.0.1", props: { url: "string", http: "$.interface.http" },
  async run() { await fetch(this.url); this.$emit("done"); },
};"#;
    let source = node.deploy(code, json!({"url": receiver.url()})).await;
    node.get(source.endpoint()).await.is(200);
    arrived.notified().await;
    node.signal("HUP");
    node.output_with("stopping");
    node.signal("HUP");
    held.notify_one();
    let status = node.wait().await;
    assert!(status.success(), "{status}");
    node.restart().await;
    assert_eq!(payloads(&node.events(&source).await), ["done"]);
    assert_eq!(receiver.received().len(), 1);
}

#[tokio::test]
async fn the_stores_main_file_is_whole_after_a_clean_stop() {
    let mut node = Node::start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    node.run(&source, json!({})).await;
    let before = node.events(&source).await;
    assert!(node.terminate().await.success());
    // Without the key that URLs are signed with.
    let copy = Node::builder().store_file_of(&node);
    let copy = copy.flag("--new-secret-key").start().await;
    assert_eq!(copy.events(&source).await, before);
    copy.run(&source, json!({})).await;
    assert_eq!(payloads(&copy.events(&source).await), [1, 2]);
}

#[tokio::test]
async fn runs_may_finish_when_a_node_is_asked_to_stop() {
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let gate = Receiver::start().await;
    let code = r#"
export default {
  name: "Slow",
  version: "0.0.1",
  props: { http: "$.interface.http", url: "string" },
  async run() {
    await fetch(this.url, { method: "POST" });
    while (!(await (await fetch(this.url)).text())) await new Promise((resolve) => setTimeout(resolve, 10));
    this.$emit("finished");
  },
};
"#;
    let source = node.deploy(code, json!({"url": gate.url()})).await;
    node.get(source.endpoint()).await.is(200);
    gate.until(|received| !received.is_empty()).await;
    node.ask_to_stop();
    let asked = gate.received().len();
    gate.until(|received| received.len() > asked).await;
    gate.answer(|_| headwater_integration::Reply::module("open"));
    assert!(node.wait().await.success());
    node.restart().await;
    assert_eq!(payloads(&node.events(&source).await), ["finished"]);
}

#[tokio::test]
async fn an_accepted_request_is_run_after_a_kill() {
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .start()
        .await;
    let gate = Receiver::start().await;
    gate.answer(|_| headwater_integration::Reply::status(503));
    let code = r#"
export default {
  name: "Patient",
  version: "0.0.1",
  props: { http: "$.interface.http", url: "string" },
  async run({ path }) {
    while (!(await fetch(this.url)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
    this.$emit(path);
  },
};
"#;
    let source = node.deploy(code, json!({"url": gate.url()})).await;
    node.get(&format!("{}/a", source.endpoint())).await.is(200);
    gate.until(|received| !received.is_empty()).await;
    node.kill_9();
    gate.answer(|_| headwater_integration::Reply::status(200));
    node.restart().await;
    let events = node
        .events_until(&source, |events| !events.is_empty())
        .await;
    assert_eq!(payloads(&events), ["/a"]);
}

#[tokio::test]
async fn a_paused_source_stays_paused() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(INBOX, json!({})).await;
    node.put(&source.path(), json!({"active": false}))
        .await
        .is(200);
    node.restart().await;
    assert_eq!(
        node.get(&source.path()).await.is(200).data()["active"],
        false
    );
    node.get(source.endpoint()).await.is(404);
}

#[tokio::test]
async fn event_ids_keep_increasing_over_a_kill() {
    let mut node = Node::builder().own_address().start().await;
    let source = node.deploy(COUNTING, json!({})).await;
    for _ in 0..3 {
        node.run(&source, json!({})).await;
    }
    node.kill_9();
    node.restart().await;
    node.run(&source, json!({})).await;
    let events = node.events(&source).await;
    assert_eq!(payloads(&events), [1, 2, 3, 4]);
    let ids: Vec<(u64, u64)> = events
        .iter()
        .map(|event| {
            let (ms, sequence) = event["id"].as_str().unwrap().split_once('-').unwrap();
            (ms.parse().unwrap(), sequence.parse().unwrap())
        })
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
}

#[tokio::test]
async fn at_a_terminal_the_first_key_is_told_once() {
    let node = Node::start().await;
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().join("data");
    let data_dir = data_dir.to_str().unwrap();
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--api-key",
        "",
        "--data-dir",
        data_dir,
    ];
    for times in [1, 0] {
        let mut terminal = node.cli_at_terminal(folder.path(), &serve);
        let told = terminal.expect("is ready on").await;
        let key = std::fs::read_to_string(folder.path().join("data/api-key")).unwrap();
        assert_eq!(told.matches(key.trim()).count(), times, "{told}");
        terminal.signal("INT").await;
        terminal.end().await;
    }
}

#[tokio::test]
async fn the_first_key_is_made_and_kept_for_its_owner_but_in_no_log() {
    let mut node = Node::builder().own_address().without_key().start().await;
    assert!(!node.output().contains(node.api_key()), "{}", node.output());
    let file = node.data_dir().join("api-key").display().to_string();
    node.output_with(&file);
    node.get("/users/me").await.is(200);
    let mode = std::fs::metadata(node.data_dir().join("api-key"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    node.restart().await;
    assert!(!node.output().contains(node.api_key()), "{}", node.output());
    node.get("/users/me").await.is(200);
}

#[tokio::test]
async fn a_node_whose_address_is_taken_says_so() {
    let node = Node::start().await;
    let listen = node.url().strip_prefix("http://").unwrap().to_owned();
    let folder = tempfile::tempdir().unwrap();
    let data_dir = folder.path().to_str().unwrap();
    let seen = node
        .cli(&["serve", "--listen", &listen, "--data-dir", data_dir])
        .await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    assert!(
        seen.stderr.contains(&listen) && seen.stderr.contains("--listen"),
        "{}",
        seen.stderr
    );
    assert_eq!(
        node.get("/users/me/sources").await.is(200).items(),
        [Value::Null; 0]
    );
}

#[tokio::test]
async fn a_data_folder_serves_one_node_at_a_time() {
    let node = Node::start().await;
    let data_dir = node.data_dir().to_str().unwrap();
    let seen = node
        .cli(&["serve", "--listen", "127.0.0.1:0", "--data-dir", data_dir])
        .await;
    assert_eq!(seen.code, 1, "{}", seen.stderr);
    node.get("/users/me").await.is(200);
}
