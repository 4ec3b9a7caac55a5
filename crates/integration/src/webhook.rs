//! Webhooks and what is delivered to them, as tests make and read them.

use serde_json::{Value, json};

use crate::node::Node;

impl Node {
    /// Makes a webhook and returns it, secret included.
    pub async fn webhook(&self, url: &str) -> Value {
        let made = self.post("/webhooks", json!({"url": url})).await;
        made.is(200).data()
    }

    /// Makes a webhook that gets what is emitted on the emitter's default channel, and returns its id.
    pub async fn webhook_for(&self, emitter_id: &str, url: &str) -> String {
        let webhook = self.webhook(url).await;
        let id = webhook["id"].as_str().expect("a webhook has an id");
        self.subscribe(emitter_id, id, "").await;
        id.to_owned()
    }

    /// Subscribes a listener to a channel and returns the subscription.
    pub async fn subscribe(&self, emitter_id: &str, listener_id: &str, event_name: &str) -> Value {
        let body = json!({
            "emitter_id": emitter_id, "listener_id": listener_id, "event_name": event_name,
        });
        self.post("/subscriptions", body).await.is(200).data()
    }

    /// Waits until a webhook's deliveries are as wanted, and returns them oldest first, events whole.
    pub async fn deliveries_until(
        &self,
        webhook_id: &str,
        wanted: impl Fn(&[Value]) -> bool,
    ) -> Vec<Value> {
        let path = format!("/webhooks/{webhook_id}/deliveries?expand=event");
        match self.poll_list(&path, wanted).await {
            Ok(deliveries) => deliveries,
            Err(deliveries) => panic!(
                "the deliveries of {webhook_id} did not become as wanted: {:#}",
                Value::from(deliveries)
            ),
        }
    }

    /// Waits until that many deliveries of a webhook are in this state.
    pub async fn deliveries_in(&self, webhook_id: &str, state: &str, count: usize) -> Vec<Value> {
        let is = |delivery: &&Value| delivery["state"] == state;
        let deliveries =
            self.deliveries_until(webhook_id, |all| all.iter().filter(is).count() == count);
        deliveries.await
    }
}
