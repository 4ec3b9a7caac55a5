//! Events of one source for another, while their node is killed.

use headwater_integration::{Node, Receiver, payloads};
use serde_json::json;

use super::{
    clients::Clients,
    counted::{Record, counting, ids_increase, settle},
    seed::Seed,
};

/// Tells the receiver what it gets before it emits it.
const LISTENING: &str = r#"
export default {
  name: "Listening",
  version: "0.0.1",
  props: { url: "string" },
  async run(event) {
    await fetch(this.url, { method: "POST", body: JSON.stringify(event) });
    this.$emit(event);
  },
};
"#;

#[tokio::test(flavor = "multi_thread")]
async fn every_event_reaches_a_listening_source_exactly_once() {
    const IDS: usize = 240;
    const KILLS: usize = 6;
    let mut seed = Seed::new();
    let mut node = Node::builder()
        .own_address()
        .private_network()
        .flag("--retained-events=100000")
        .start()
        .await;
    let heard = Receiver::start().await;
    let emitter = node.deploy(&counting(false), json!({})).await;
    let listener = node.deploy(LISTENING, json!({"url": heard.url()})).await;
    node.post(
        "/subscriptions",
        json!({"emitter_id": emitter.id, "listener_id": listener.id}),
    )
    .await
    .is(200);

    let clients = Clients::of(&emitter);
    let sending = clients.send(0..IDS);
    for _ in 0..KILLS {
        let moment = heard.received().len() + 1 + seed.below(IDS / KILLS);
        heard.until(|received| received.len() >= moment).await;
        clients.crash(&mut node).await;
    }
    sending.join_all().await;
    settle(&node, &emitter, &clients, IDS).await;

    let emitted = Record::read(&node, &emitter).await;
    emitted.check_runs(&clients.tally());
    let reached = node
        .events_until(&listener, |events| events.len() >= emitted.events.len())
        .await;
    ids_increase(&reached);
    let sent = payloads(&node.events(&emitter).await);
    assert_eq!(
        payloads(&reached),
        sent,
        "in their order, none missing, none twice"
    );
    assert_eq!(
        node.channel(&listener, "$errors").await,
        [serde_json::Value::Null; 0]
    );
}
