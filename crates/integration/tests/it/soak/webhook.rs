//! A webhook whose receiver fails now and then, and for whole whiles.

use std::{
    collections::HashSet,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use headwater_integration::{Node, Receiver, Reply, Source};
use serde_json::json;

use super::senders::Sent;

/// Every so many attempts one fails.
const FAILING: usize = 9;

/// The receiver and what it took.
pub(super) struct Webhook {
    receiver: Receiver,
    taken: Arc<Mutex<HashSet<(usize, u64)>>>,
    is_down: Arc<AtomicBool>,
}

impl Webhook {
    pub(super) async fn start() -> Self {
        let receiver = Receiver::start().await;
        let (taken, is_down) = (
            Arc::<Mutex<HashSet<_>>>::default(),
            Arc::<AtomicBool>::default(),
        );
        let (takes, fails) = (Arc::clone(&taken), Arc::clone(&is_down));
        let attempts = AtomicUsize::new(0);
        receiver.answer(move |received| {
            let attempt = attempts.fetch_add(1, Ordering::Relaxed);
            if fails.load(Ordering::Relaxed) || attempt.is_multiple_of(FAILING) {
                return Reply::status(503);
            }
            let event = received.json();
            let number = |name: &str| event[name].as_u64().unwrap();
            let source = usize::try_from(number("source")).unwrap();
            takes.lock().unwrap().insert((source, number("id")));
            Reply::status(200)
        });
        Self {
            receiver,
            taken,
            is_down,
        }
    }

    /// Has it get the events of these sources.
    pub(super) async fn subscribe(&self, node: &Node, sources: &[Source]) {
        let url = json!({"url": self.receiver.url()});
        let webhook = node.post("/webhooks", url).await.is(200).data();
        for source in sources {
            let pair = json!({"emitter_id": source.id, "listener_id": webhook["id"]});
            node.post("/subscriptions", pair).await.is(200);
        }
    }

    /// The switch with which it takes nothing.
    pub(super) fn is_down(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_down)
    }

    /// Says which events have not come, once nothing is missing any more or that takes too long.
    pub(super) async fn missing(&self, sent: &Sent, within: Duration) -> Option<String> {
        let until = Instant::now() + within;
        loop {
            // Kept for tests that look at requests.
            self.receiver.clear();
            let missing: Vec<_> = {
                let taken = self.taken.lock().unwrap();
                sent.all().filter(|one| !taken.contains(one)).collect()
            };
            if missing.is_empty() {
                return None;
            }
            if Instant::now() > until {
                return Some(format!(
                    "{} events did not reach the webhook, of source and id {:?}",
                    missing.len(),
                    &missing[..missing.len().min(20)]
                ));
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}
