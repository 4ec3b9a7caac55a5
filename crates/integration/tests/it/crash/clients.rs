//! Clients of an endpoint that try again until they are answered, as a sender of webhooks does.

use std::{
    collections::BTreeMap,
    io,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use headwater_integration::{Node, Raw, Source};
use serde_json::json;
use tokio::{sync::watch, task::JoinSet};

/// Requests at once.
const CLIENTS: usize = 16;

/// The time within which a node that was killed is there again, on a machine under load.
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
    address: String,
    path: String,
    /// How often the node was started again.
    starts: Arc<watch::Sender<usize>>,
    tally: Arc<watch::Sender<BTreeMap<usize, Sent>>>,
}

impl Clients {
    pub(super) fn of(source: &Source) -> Self {
        Self::at(source.endpoint())
    }

    /// The clients of this URL.
    pub(super) fn at(url: &str) -> Self {
        let endpoint = url.trim_start_matches("http://");
        let (address, path) = endpoint.split_once('/').expect("an endpoint has a path");
        Self {
            address: address.to_owned(),
            path: format!("/{path}"),
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
            let answer = self.post(id).await;
            match answer.as_deref().map(status) {
                Ok(Some("200")) => {
                    self.tally
                        .send_modify(|tally| tally.entry(id).or_default().answered = true);
                    return;
                }
                // A node that stops may say so; one that is killed closes the connection.
                Ok(Some("503") | None) | Err(_) => {}
                Ok(Some(_)) => panic!("request {id} was answered {answer:?}"),
            }
            let next_start = starts.wait_for(|now| *now > start);
            // A node that goes on has to answer.
            let waited = tokio::time::timeout(STARTED_BY, next_start).await;
            assert!(waited.is_ok(), "request {id} failed for good: {answer:?}");
        }
    }

    /// Posts the id over a connection of its own. The answer is empty if the connection was closed before it.
    ///
    /// By hand, because kills close connections at any moment: if one is closed while hyper's client hands it a
    /// request, the client may wait for an answer without end although it has no connection any more.
    async fn post(&self, id: usize) -> io::Result<String> {
        let Self { address, path, .. } = self;
        let body = json!({"id": id}).to_string();
        let length = body.len();
        let mut connection = Raw::open(address).await?;
        let request = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n\r\n{body}"
        );
        connection.send(request.as_bytes()).await?;
        Ok(connection.answer().await)
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

/// The status of an answer, if there is one.
fn status(answer: &str) -> Option<&str> {
    answer.strip_prefix("HTTP/1.1 ")?.get(..3)
}
