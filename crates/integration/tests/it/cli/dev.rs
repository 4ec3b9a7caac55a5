//! `headwater dev`: real files are saved, and what the command prints is awaited.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use headwater_integration::{Dialogue, Method, Node, Receiver, Reply, payloads};
use serde_json::{Value, json};
use tokio::sync::Notify;

const LIVE: &str = "live; saving";

struct Desk {
    node: Node,
    folder: tempfile::TempDir,
}

/// Emits where it is from, logs, and throws what it is asked to.
fn source(version: &str) -> String {
    format!(
        r#"
export default {{ name: "Worked on", version: "0.0.1", props: {{ http: "$.interface.http" }},
  run({{ body }}) {{
    console.log("heard " + body);
    if (body === "fail") throw new Error("asked to fail");
    this.$emit({{ body }}, {{ summary: "{version} " + body }});
  }} }};"#
    )
}

impl Desk {
    async fn new() -> Self {
        Self {
            node: Node::start().await,
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn save(&self, file: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    /// As editors save: beside, and then in its place.
    fn replace(&self, file: &str, text: &str) {
        let beside = self.save(&format!("{file}.tmp"), text);
        std::fs::rename(beside, self.folder.path().join(file)).unwrap();
    }

    fn dev(&self, arguments: &[&str]) -> Dialogue {
        let mut all = vec!["dev", "a.mjs"];
        all.extend(arguments);
        self.node.start_cli(self.folder.path(), &all)
    }

    async fn sources(&self) -> Vec<Value> {
        self.node.get("/users/me/sources").await.is(200).items()
    }

    async fn only_source(&self) -> Value {
        let mut sources = self.sources().await;
        assert_eq!(sources.len(), 1, "{sources:?}");
        sources.remove(0)
    }

    /// Posts to the source's endpoint.
    async fn post(&self, body: &str) {
        let source = self.only_source().await;
        let url = source["configured_props"]["http"]["endpoint_url"]
            .as_str()
            .unwrap();
        let request = self.node.request(Method::POST, url).body(body.to_owned());
        self.node.send(request).await.is(200);
    }
}

/// The gate at which a `deploy` hook waits.
struct Gate {
    desk: Desk,
    reached: Arc<Notify>,
    opened: Arc<Notify>,
    /// Where the hook asks.
    _receiver: Receiver,
}

impl Gate {
    async fn new() -> Self {
        let node = Node::builder().private_network().start().await;
        let receiver = Receiver::start().await;
        let (reached, opened) = <(Arc<Notify>, Arc<Notify>)>::default();
        let (at_it, may_pass) = (Arc::clone(&reached), Arc::clone(&opened));
        receiver.answer_later(move |_| {
            let may_pass = Arc::clone(&may_pass);
            at_it.notify_one();
            async move {
                may_pass.notified().await;
                Reply::status(200)
            }
        });
        let desk = Desk {
            node,
            folder: tempfile::tempdir().unwrap(),
        };
        let code = format!(
            r#"export default {{ name: "Slow", version: "0.0.1",
  hooks: {{ async deploy() {{ await fetch("{}"); }} }}, run() {{}} }};"#,
            receiver.url()
        );
        desk.save("a.mjs", &code);
        Self {
            desk,
            reached,
            opened,
            _receiver: receiver,
        }
    }

    /// The command, interrupted while it waits for the hook.
    async fn interrupted(&self, arguments: &[&str]) -> Dialogue {
        let mut dev = self.desk.dev(arguments);
        self.reached.notified().await;
        dev.signal("INT").await;
        dev.expect("waiting for the deployment to end").await;
        dev
    }
}

async fn interrupt(mut dev: Dialogue) -> String {
    dev.signal("INT").await;
    let status = dev.end().await;
    assert!(status.success(), "{}", dev.transcript());
    dev.transcript()
}

#[tokio::test]
async fn a_save_goes_live_and_what_happens_is_printed() {
    let desk = Desk::new().await;
    desk.save("a.mjs", &source("first"));
    let mut dev = desk.dev(&[]);
    dev.expect(LIVE).await;
    let deployed = desk.only_source().await;
    desk.post("one").await;
    // Logs and events come over streams of their own.
    dev.expect_all(&["first one", "info   heard one"]).await;
    desk.post("fail").await;
    dev.expect("asked to fail").await;

    desk.save("a.mjs", &source("second"));
    dev.expect(LIVE).await;
    desk.post("two").await;
    dev.expect("second two").await;
    desk.replace("a.mjs", &source("third"));
    dev.expect(LIVE).await;
    desk.post("three").await;
    dev.expect("third three").await;

    let after = desk.only_source().await;
    assert_eq!(after["id"], deployed["id"]);
    assert_eq!(after["configured_props"], deployed["configured_props"]);
    interrupt(dev).await;
}

#[tokio::test]
async fn a_broken_save_leaves_the_former_version_and_the_next_good_one_goes_live() {
    let desk = Desk::new().await;
    desk.save("a.mjs", &source("first"));
    let mut dev = desk.dev(&[]);
    dev.expect(LIVE).await;
    desk.save("a.mjs", "export default { name: ");
    dev.expect("error:").await;
    dev.expect("the former version keeps running").await;
    desk.post("one").await;
    dev.expect("first one").await;
    desk.save("a.mjs", "throw new Error(\"not loaded\");");
    dev.expect("not loaded").await;
    dev.expect("the former version keeps running").await;
    desk.save("a.mjs", &source("second"));
    dev.expect(LIVE).await;
    desk.post("two").await;
    dev.expect("second two").await;
    interrupt(dev).await;
}

#[tokio::test]
async fn what_the_file_imports_is_watched_and_may_be_missing_at_first() {
    let desk = Desk::new().await;
    let main = r#"import { text } from "./lib/text.mjs";
export default { name: "Parts", version: "0.0.1", props: { http: "$.interface.http" },
  run() { this.$emit({}, { summary: text() }); } };"#;
    desk.save("a.mjs", main);
    let mut dev = desk.dev(&[]);
    dev.expect("lib/text.mjs").await;
    dev.expect("not deployed; waiting for a.mjs").await;
    desk.save(
        "lib/text.mjs",
        "export const text = () => \"from the first\";",
    );
    // Which files count is known again when the component has been read as a whole.
    desk.save("a.mjs", &format!("{main}\n"));
    dev.expect(LIVE).await;
    desk.post("x").await;
    dev.expect("from the first").await;
    desk.save(
        "lib/text.mjs",
        "export const text = () => \"from the second\";",
    );
    dev.expect(LIVE).await;
    desk.post("x").await;
    dev.expect("from the second").await;
    interrupt(dev).await;
}

#[tokio::test]
async fn the_source_is_taken_up_again_until_it_is_deleted() {
    let desk = Desk::new().await;
    desk.save("a.mjs", &source("first"));
    let mut dev = desk.dev(&[]);
    dev.expect(LIVE).await;
    desk.post("one").await;
    dev.expect("first one").await;
    let first = desk.only_source().await;
    let told = interrupt(dev).await;
    assert!(told.contains("stays deployed"), "{told}");

    desk.save("a.mjs", &source("second"));
    let mut dev = desk.dev(&["--delete-on-exit"]);
    dev.expect(LIVE).await;
    desk.post("two").await;
    dev.expect("second two").await;
    let second = desk.only_source().await;
    assert_eq!(second["id"], first["id"]);
    assert_eq!(second["configured_props"], first["configured_props"]);
    let told = interrupt(dev).await;
    // Earlier output is not repeated.
    assert!(!told.contains("first one"), "{told}");
    assert!(told.contains("deleted"), "{told}");
    assert_eq!(desk.sources().await, [Value::Null; 0]);

    let mut dev = desk.dev(&[]);
    dev.expect(LIVE).await;
    assert_ne!(desk.only_source().await["id"], first["id"]);
    interrupt(dev).await;
}

#[tokio::test]
async fn events_of_deploying_are_printed_as_data_too() {
    let desk = Desk::new().await;
    let code = r#"export default { name: "Hooked", version: "0.0.1",
  hooks: { deploy() { this.$emit({ from: "deploy" }); } }, run() {} };"#;
    desk.save("a.mjs", code);
    let mut dev = desk.dev(&["--json"]);
    let printed = dev.expect("\"from\":\"deploy\"").await;
    assert!(printed.contains("\"indexed_at_ms\""), "{printed}");
    let source = headwater_integration::Source::new(desk.only_source().await);
    let events = desk.node.events(&source).await;
    assert_eq!(payloads(&events), [json!({"from": "deploy"})]);
    interrupt(dev).await;
}

#[tokio::test]
async fn what_cannot_be_deployed_at_all_ends_it() {
    let desk = Desk::new().await;
    let ended = |arguments: Vec<&'static str>| {
        let node = &desk.node;
        let folder: &Path = desk.folder.path();
        async move { node.cli_in(folder, &arguments).await }
    };
    let seen = ended(vec!["dev", "nothing.mjs"]).await;
    assert_eq!(seen.code, 1);
    assert!(seen.stderr.contains("nothing.mjs"), "{}", seen.stderr);
    desk.save("action.mjs", "export default { type: \"action\", name: \"A\", key: \"a-a\", version: \"0.0.1\", run() {} };");
    let seen = ended(vec!["dev", "action.mjs"]).await;
    assert_eq!(seen.code, 2);
    assert!(
        seen.stderr.contains("headwater run-action action.mjs"),
        "{}",
        seen.stderr
    );
    desk.save("props.mjs", "export default { name: \"P\", version: \"0.0.1\", props: { city: \"string\" }, run() {} };");
    let seen = ended(vec!["dev", "props.mjs"]).await;
    assert_eq!(seen.code, 2);
    assert!(seen.stderr.contains("\n  city (string)"), "{}", seen.stderr);
}

#[tokio::test]
async fn a_source_whose_deployment_is_interrupted_is_remembered() {
    let gate = Gate::new().await;
    let mut dev = gate.interrupted(&[]).await;
    gate.opened.notify_one();
    assert!(dev.end().await.success(), "{}", dev.transcript());
    let told = dev.transcript();
    assert!(told.contains("stays deployed"), "{told}");
    let deployed = gate.desk.only_source().await;

    let mut dev = gate.desk.dev(&[]);
    dev.expect(LIVE).await;
    assert_eq!(gate.desk.only_source().await["id"], deployed["id"]);
    interrupt(dev).await;
}

#[tokio::test]
async fn a_source_whose_deployment_is_interrupted_is_deleted_if_that_is_wanted() {
    let gate = Gate::new().await;
    let mut dev = gate.interrupted(&["--delete-on-exit"]).await;
    gate.opened.notify_one();
    assert!(dev.end().await.success(), "{}", dev.transcript());
    let told = dev.transcript();
    assert!(told.contains("deleted dc_"), "{told}");
    assert_eq!(gate.desk.sources().await, [Value::Null; 0]);
}

#[tokio::test]
async fn a_second_interruption_waits_for_nothing() {
    let gate = Gate::new().await;
    let mut dev = gate.interrupted(&[]).await;
    dev.signal("TERM").await;
    // The hook still waits.
    assert_eq!(dev.end().await.code(), Some(1));
    let told = dev.transcript();
    assert!(told.contains("`headwater list`"), "{told}");
    gate.opened.notify_one();
}

#[tokio::test]
async fn a_save_may_bring_props_that_depend_on_a_secret_of_the_source() {
    let desk = Desk::new().await;
    let code = |version: &str| {
        format!(
            r#"export default {{ name: "Board", version: "0.0.1",
  props: {{ token: {{ type: "string", secret: true, reloadProps: true }}, http: "$.interface.http" }},
  async additionalProps() {{
    if (this.token !== "hunter2") throw new Error("the token is " + this.token);
    return {{ column: {{ type: "string", optional: true }} }};
  }},
  run() {{ this.$emit({{}}, {{ summary: "{version} " + this.column }}); }} }};"#
        )
    };
    desk.save("a.mjs", &code("first"));
    let mut dev = desk.dev(&["--prop", "token=hunter2", "--prop", "column=c"]);
    dev.expect(LIVE).await;
    interrupt(dev).await;
    // The secret is known at the node alone from now on.
    desk.save("a.mjs", &code("second"));
    let mut dev = desk.dev(&["--prop", "column=d"]);
    dev.expect(LIVE).await;
    desk.post("x").await;
    dev.expect("second d").await;
    desk.save("a.mjs", &code("third"));
    dev.expect(LIVE).await;
    desk.post("x").await;
    dev.expect("third d").await;
    interrupt(dev).await;

    let id = desk.only_source().await["id"].as_str().unwrap().to_owned();
    let update = ["update", &id, "--prop", "column=e"];
    desk.node.cli(&update).await.ok();
    let source = desk.only_source().await;
    assert_eq!(source["configured_props"]["column"], "e");
}
