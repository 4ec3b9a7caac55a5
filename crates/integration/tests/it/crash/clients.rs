//! Clients of an endpoint that try again until they are answered, as a sender of webhooks does.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use headwater_integration::{Node, Source};
use serde_json::json;
use tokio::{sync::watch, task::JoinSet};

/// Requests at once.
const CLIENTS: usize = 16;

/// The time within which a node that was killed is there again, or has answered, on a machine under load.
const STARTED_BY: Duration = Duration::from_secs(60);

/// The state of one id.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sent {
    /// Requests that may have arrived.
    pub(super) attempts: usize,
    /// Whether one was answered 200.
    pub(super) answered: bool,
}

/// The clients of one endpoint.
#[derive(Clone)]
pub(super) struct Clients {
    http: reqwest::Client,
    endpoint: String,
    /// How often the node was started again.
    starts: Arc<watch::Sender<usize>>,
    tally: Arc<watch::Sender<BTreeMap<usize, Sent>>>,
}

impl Clients {
    pub(super) fn of(source: &Source) -> Self {
        // A connection per request: none is left that a kill has closed.
        let http = reqwest::Client::builder()
            .no_proxy()
            .pool_max_idle_per_host(0)
            .timeout(STARTED_BY)
            .build()
            .unwrap();
        Self {
            http,
            endpoint: source.endpoint().to_owned(),
            starts: Arc::default(),
            tally: Arc::default(),
        }
    }

    /// Sends these ids, `CLIENTS` at a time, each until it is answered.
    pub(super) fn send(&self, ids: std::ops::Range<usize>) -> JoinSet<()> {
        let next = Arc::new(AtomicUsize::new(ids.start));
        let mut sending = JoinSet::new();
        for _ in 0..CLIENTS {
            let (clients, next, end) = (self.clone(), Arc::clone(&next), ids.end);
            sending.spawn(async move {
                loop {
                    let id = next.fetch_add(1, Ordering::Relaxed);
                    if id >= end {
                        return;
                    }
                    clients.send_one(id).await;
                }
            });
        }
        sending
    }

    /// Sends one id until it is answered. After a failure the next try waits for the node's next start.
    pub(super) async fn send_one(&self, id: usize) {
        let mut starts = self.starts.subscribe();
        loop {
            let start = *starts.borrow_and_update();
            self.tally
                .send_modify(|tally| tally.entry(id).or_default().attempts += 1);
            let response = self
                .http
                .post(&self.endpoint)
                .json(&json!({"id": id}))
                .send()
                .await;
            let answer = match response {
                Ok(response) => Ok((response.status().as_u16(), response.text().await)),
                Err(error) => Err(error),
            };
            match &answer {
                Ok((200, _)) => {
                    self.tally
                        .send_modify(|tally| tally.entry(id).or_default().answered = true);
                    return;
                }
                // A node that stops may say so.
                Ok((503, _)) | Err(_) => {}
                Ok(answer) => panic!("request {id} was answered {answer:?}"),
            }
            let next_start = starts.wait_for(|now| *now > start);
            // A node that goes on has to answer.
            let waited = tokio::time::timeout(STARTED_BY, next_start).await;
            assert!(waited.is_ok(), "request {id} failed for good: {answer:?}");
        }
    }

    /// Waits until so many ids are answered.
    pub(super) async fn until_answered(&self, count: usize) {
        let mut tally = self.tally.subscribe();
        let answered =
            |tally: &BTreeMap<usize, Sent>| tally.values().filter(|sent| sent.answered).count();
        tally
            .wait_for(|tally| answered(tally) >= count)
            .await
            .unwrap();
    }

    /// Kills the node, starts it again, and lets those try again who wait for that.
    pub(super) async fn crash(&self, node: &mut Node) {
        node.kill_9();
        self.restart(node).await;
    }

    /// Starts the node again, and lets those try again who wait for that.
    pub(super) async fn restart(&self, node: &mut Node) {
        node.restart().await;
        self.starts.send_modify(|starts| *starts += 1);
    }

    /// The requests so far, by id.
    pub(super) fn tally(&self) -> BTreeMap<usize, Sent> {
        self.tally.borrow().clone()
    }
}
