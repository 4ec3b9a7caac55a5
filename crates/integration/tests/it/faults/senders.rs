//! Senders that send each request to one node after the other until one accepts it.

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use headwater_integration::Source;
use serde_json::json;
use tokio::task::JoinSet;

const SENDERS: usize = 4;
/// Between two requests of one.
const PACE: Duration = Duration::from_millis(100);
const AGAIN_AFTER: Duration = Duration::from_millis(200);
const LOOKED_EVERY: Duration = Duration::from_millis(20);
/// More than a node lets a request wait.
const PATIENCE: Duration = Duration::from_secs(40);
/// Waits that are told.
const TOLD: usize = 5;

pub(super) struct Senders {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
}

#[derive(Default)]
struct Shared {
    next: AtomicU64,
    again: AtomicUsize,
    stop: AtomicBool,
    accepted: Mutex<Vec<(u64, Duration)>>,
}

/// Everything that was accepted in the end.
pub(super) struct Sent {
    pub(super) ids: BTreeSet<u64>,
    pub(super) again: usize,
    waited: Vec<Duration>,
}

impl Senders {
    pub(super) fn start(nodes: &[SocketAddr], source: &Source) -> Self {
        let path = url::Url::parse(source.endpoint())
            .unwrap()
            .path()
            .to_owned();
        let urls: Vec<_> = { nodes.iter() }
            .map(|node| format!("http://{node}{path}"))
            .collect();
        let shared = Arc::<Shared>::default();
        let mut tasks = JoinSet::new();
        for _ in 0..SENDERS {
            tasks.spawn(send_on(urls.clone(), Arc::clone(&shared)));
        }
        Self { shared, tasks }
    }

    /// Waits until a request is accepted that was not sent yet.
    pub(super) async fn accepted_another(&self) {
        let next = self.shared.next.load(Relaxed);
        let is_newer = |(id, _): &(u64, Duration)| *id >= next;
        while !self
            .shared
            .accepted
            .lock()
            .unwrap()
            .iter()
            .rev()
            .any(is_newer)
        {
            tokio::time::sleep(LOOKED_EVERY).await;
        }
    }

    /// Lets each request be accepted.
    pub(super) async fn end(self) -> Sent {
        self.shared.stop.store(true, Relaxed);
        self.tasks.join_all().await;
        let accepted = std::mem::take(&mut *self.shared.accepted.lock().unwrap());
        let mut waited: Vec<_> = accepted.iter().map(|(_, waited)| *waited).collect();
        waited.sort();
        Sent {
            ids: accepted.into_iter().map(|(id, _)| id).collect(),
            again: self.shared.again.load(Relaxed),
            waited,
        }
    }
}

impl Sent {
    /// The longest times until a request was accepted, longest first.
    pub(super) fn waits(&self) -> String {
        let longest = self.waited.iter().rev().take(TOLD);
        let shown: Vec<_> = longest
            .map(|waited| format!("{:.1} s", waited.as_secs_f64()))
            .collect();
        shown.join(", ")
    }
}

async fn send_on(urls: Vec<String>, shared: Arc<Shared>) {
    // A connection per request: none is left that a kill has closed.
    let http = reqwest::Client::builder()
        .no_proxy()
        .pool_max_idle_per_host(0)
        .timeout(PATIENCE)
        .build()
        .unwrap();
    while !shared.stop.load(Relaxed) {
        let id = shared.next.fetch_add(1, Relaxed);
        let begun = Instant::now();
        let mut nodes = urls
            .iter()
            .cycle()
            .skip(usize::try_from(id).unwrap() % urls.len());
        while !is_accepted(&http, nodes.next().expect("there are nodes"), id).await {
            shared.again.fetch_add(1, Relaxed);
            tokio::time::sleep(AGAIN_AFTER).await;
        }
        shared.accepted.lock().unwrap().push((id, begun.elapsed()));
        tokio::time::sleep(PACE).await;
    }
}

async fn is_accepted(http: &reqwest::Client, url: &str, id: u64) -> bool {
    let sent = http.post(url).json(&json!({"id": id})).send().await;
    let Ok(answer) = sent else { return false };
    match answer.status().as_u16() {
        200 => true,
        408 | 429 | 500.. => false,
        status => panic!(
            "a request was answered {status} by {url}: {:?}",
            answer.text().await
        ),
    }
}
