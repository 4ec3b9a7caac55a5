//! A node killed in the middle of a deployment, an update or a deletion.
//!
//! Hooks tell a receiver that they are called, and wait until it lets them go on; until then it
//! answers 503. What a start settles is settled under the source's lock, which every change of the
//! source waits for.

use headwater_integration::{Node, Receiver, Reply, Source};
use serde_json::{Value, json};

/// Its hooks say `VERSION HOOK` to the receiver until that lets them go on, and emit before and after.
fn patient(version: &str) -> String {
    r#"
export default {
  name: "Patient",
  version: "VERSION",
  props: { url: "string", http: { type: "$.interface.http", customResponse: true }, db: "$.service.db" },
  methods: {
    async reach(hook) {
      this.$emit(`VERSION before ${hook}`);
      this.db.set(hook, "VERSION");
      const called = {
        method: "POST",
        headers: { source: process.env.PD_COMPONENT, endpoint: this.http.endpoint },
        body: `VERSION ${hook}`,
      };
      while (!(await fetch(this.url, called)).ok) await new Promise((resolve) => setTimeout(resolve, 10));
      this.$emit(`VERSION after ${hook}`);
    },
  },
  hooks: {
    async deploy() { await this.reach("deploy"); },
    async activate() { await this.reach("activate"); },
    async deactivate() { await this.reach("deactivate"); },
  },
  run() {
    const set = Object.fromEntries(["deploy", "activate", "deactivate"].map((hook) => [hook, this.db.get(hook)]));
    this.http.respond({ status: 200, body: { version: "VERSION", set } });
  },
};
"#
    .replace("VERSION", version)
}

/// Hooks that match wait; the others go on at once.
fn hold(gate: &Receiver, held: &'static str) {
    gate.answer(move |request| Reply::status(if request.text() == held { 503 } else { 200 }));
}

/// The calls of hooks since then, repetitions of one that waits left out.
fn calls(gate: &Receiver) -> Vec<String> {
    let mut calls = gate.bodies();
    calls.dedup();
    calls
}

/// Begins a request that a kill will leave unanswered.
fn begin(request: reqwest::RequestBuilder) -> tokio::task::JoinHandle<bool> {
    tokio::spawn(async move { request.send().await.is_ok() })
}

struct Killed {
    node: Node,
    gate: Receiver,
}

impl Killed {
    async fn start() -> Self {
        let node = Node::builder()
            .own_address()
            .private_network()
            .start()
            .await;
        Self {
            node,
            gate: Receiver::start().await,
        }
    }

    async fn deployed(&self) -> Source {
        let source = self
            .node
            .deploy(&patient("v1"), json!({"url": self.gate.url()}))
            .await;
        self.gate.clear();
        source
    }

    /// Begins the request, kills the node when that hook is called, and starts the node again with
    /// all hooks free to go on. Returns what the node that died had called.
    async fn kill_in(
        &mut self,
        held: &'static str,
        request: reqwest::RequestBuilder,
    ) -> Vec<String> {
        hold(&self.gate, held);
        let begun = begin(request);
        self.gate
            .until(|received| received.iter().any(|call| call.text() == held))
            .await;
        self.node.kill_9();
        assert!(
            !begun.await.unwrap(),
            "a request in the middle of `{held}` was answered"
        );
        let called = calls(&self.gate);
        self.gate.clear();
        self.gate.answer(|_| Reply::status(200));
        self.node.restart().await;
        called
    }

    /// Waits until this hook has been called, and until whatever called it is done with the source.
    async fn settled(&self, hook: &str, id: &str) -> u16 {
        self.gate
            .until(|received| received.iter().any(|call| call.text() == hook))
            .await;
        // A change waits for the source's lock; this one changes nothing.
        self.node
            .patch(&format!("/sources/{id}"), json!({}))
            .await
            .status
    }

    /// The source's record but for the time at which it was settled last.
    async fn record(&self, source: &Source) -> Value {
        let mut record = self.node.get(&source.path()).await.is(200).data();
        record["updated_at"].take();
        record
    }

    async fn assert_gone(&mut self, id: &str, endpoint: &str) {
        for _ in 0..2 {
            self.node.get(&format!("/sources/{id}")).await.is(404);
            self.node
                .get(&format!("/sources/{id}/event_summaries"))
                .await
                .is(404);
            self.node.get(endpoint).await.is(404);
            assert_eq!(
                self.node.get("/users/me/sources").await.is(200).items(),
                [Value::Null; 0]
            );
            // And nothing of it comes back: a second start finds nothing to settle.
            assert!(self.node.terminate().await.success());
            self.node.restart().await;
        }
        assert_eq!(calls(&self.gate), ["v1 deactivate"]);
    }

    async fn kill_in_deployment(&mut self, held: &'static str) -> Vec<String> {
        let body =
            json!({"component_code": patient("v1"), "configured_props": {"url": self.gate.url()}});
        let request = self
            .node
            .request(reqwest::Method::POST, "/sources")
            .json(&body);
        let called = self.kill_in(held, request).await;
        let calls = self.gate.until(|received| !received.is_empty()).await;
        let header = |name: &str| calls[0].headers[name].to_str().unwrap().to_owned();
        let (id, endpoint) = (header("source"), header("endpoint"));
        assert_eq!(self.settled("v1 deactivate", &id).await, 404);
        self.assert_gone(&id, &endpoint).await;
        called
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_killed_in_deploy_is_undone() {
    let called = Killed::start().await.kill_in_deployment("v1 deploy").await;
    assert_eq!(called, ["v1 deploy"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deployment_killed_in_activate_is_undone() {
    let called = Killed::start()
        .await
        .kill_in_deployment("v1 activate")
        .await;
    assert_eq!(called, ["v1 deploy", "v1 activate"]);
}

async fn kill_in_update(held: &'static str, expected: &[&str]) {
    let mut killed = Killed::start().await;
    let source = killed.deployed().await;
    let record = killed.record(&source).await;
    let body = json!({"component_code": patient("v2")});
    let request = killed
        .node
        .request(reqwest::Method::PUT, &source.path())
        .json(&body);
    let called = killed.kill_in(held, request).await;
    assert_eq!(called, expected);
    assert_eq!(killed.settled("v1 activate", &source.id).await, 200);
    for _ in 0..2 {
        assert_eq!(killed.record(&source).await, record);
        let answer = killed.node.get(source.endpoint()).await.is(200).json();
        assert_eq!(answer["version"], "v1");
        assert_eq!(
            answer["set"]["activate"], "v1",
            "the update's own writes are held back"
        );
        assert!(killed.node.terminate().await.success());
        killed.node.restart().await;
    }
    let events = headwater_integration::payloads(&killed.node.events(&source).await);
    assert!(
        !events
            .iter()
            .any(|event| event.as_str().unwrap().starts_with("v2")),
        "{events:?}"
    );
    // A second start finds nothing to settle.
    assert_eq!(calls(&killed.gate).last().unwrap(), "v1 activate");
    assert_eq!(
        calls(&killed.gate)
            .iter()
            .filter(|call| *call == "v1 activate")
            .count(),
        1
    );
    // And it can be updated now.
    killed.node.put(&source.path(), body).await.is(200);
    assert_eq!(
        killed.node.get(source.endpoint()).await.is(200).json()["version"],
        "v2"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_killed_in_the_former_versions_deactivate_goes_back() {
    kill_in_update("v1 deactivate", &["v1 deactivate"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_update_killed_in_the_new_versions_activate_goes_back() {
    kill_in_update("v2 activate", &["v1 deactivate", "v2 activate"]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deletion_killed_in_deactivate_goes_on() {
    let mut killed = Killed::start().await;
    let source = killed.deployed().await;
    let request = killed.node.request(reqwest::Method::DELETE, &source.path());
    let called = killed.kill_in("v1 deactivate", request).await;
    assert_eq!(called, ["v1 deactivate"]);
    assert_eq!(killed.settled("v1 deactivate", &source.id).await, 404);
    killed.assert_gone(&source.id, source.endpoint()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_deployment_leaves_nothing_over_a_kill() {
    let mut killed = Killed::start().await;
    let code = patient("v1").replace(
        "async activate() {",
        "async activate() { throw new Error(\"no\");",
    );
    let answer = killed
        .node
        .try_deploy(&code, json!({"url": killed.gate.url()}))
        .await
        .is(422);
    assert!(answer.text.contains("no"), "{}", answer.text);
    let calls = killed.gate.received();
    let header = |name: &str| calls[0].headers[name].to_str().unwrap().to_owned();
    let (id, endpoint) = (header("source"), header("endpoint"));
    assert_eq!(self::calls(&killed.gate), ["v1 deploy", "v1 deactivate"]);
    killed.gate.clear();
    killed.node.kill_9();
    killed.node.restart().await;
    killed.node.get(&format!("/sources/{id}")).await.is(404);
    killed.node.get(&endpoint).await.is(404);
    assert_eq!(
        killed.node.get("/users/me/sources").await.is(200).items(),
        [Value::Null; 0]
    );
    assert_eq!(self::calls(&killed.gate), Vec::<String>::new());
}
