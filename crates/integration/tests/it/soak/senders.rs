//! Senders at the endpoints, which try again until they are answered, and what must have become of what they sent.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use headwater_integration::Source;
use serde_json::json;
use tokio::task::JoinSet;

/// At each endpoint.
const SENDERS: usize = 4;
/// Between two requests of one: this is a client, not a load.
const PACE: Duration = Duration::from_millis(40);
/// Before the same request is sent once more.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
const PATIENCE: Duration = Duration::from_secs(30);
/// Ids that `unique` remembers: one that comes again behind so many others is another event.
const REMEMBERED: usize = 100;

/// By source and id, how often it was sent.
type Tally = Arc<Mutex<HashMap<usize, BTreeMap<u64, usize>>>>;

/// Those who send.
pub(super) struct Senders {
    tally: Tally,
    stop: Arc<AtomicBool>,
    tasks: JoinSet<()>,
}

/// Everything they sent; all of it was answered in the end.
pub(super) struct Sent(HashMap<usize, BTreeMap<u64, usize>>);

impl Senders {
    pub(super) fn start(sources: &[Source]) -> Self {
        let (tally, stop) = (Tally::default(), Arc::<AtomicBool>::default());
        // A connection per request: none is left that a kill has closed.
        let http = reqwest::Client::builder()
            .no_proxy()
            .pool_max_idle_per_host(0)
            .timeout(PATIENCE)
            .build()
            .unwrap();
        let mut tasks = JoinSet::new();
        for (number, source) in sources.iter().enumerate() {
            let next = Arc::new(AtomicU64::new(0));
            for _ in 0..SENDERS {
                let (tally, stop, next) =
                    (Arc::clone(&tally), Arc::clone(&stop), Arc::clone(&next));
                let (http, endpoint) = (http.clone(), source.endpoint().to_owned());
                tasks.spawn(async move {
                    while !stop.load(Ordering::Relaxed) {
                        let id = next.fetch_add(1, Ordering::Relaxed);
                        let request = http
                            .post(&endpoint)
                            .json(&json!({"source": number, "id": id}));
                        send(request, || {
                            let mut tally = tally.lock().unwrap();
                            *tally.entry(number).or_default().entry(id).or_default() += 1;
                        })
                        .await;
                        tokio::time::sleep(PACE).await;
                    }
                });
            }
        }
        Self { tally, stop, tasks }
    }

    /// Lets each have its last answer.
    pub(super) async fn end(self) -> Sent {
        self.stop.store(true, Ordering::Relaxed);
        self.tasks.join_all().await;
        let tally = std::mem::take(&mut *self.tally.lock().unwrap());
        Sent(tally)
    }
}

/// Sends it until it is accepted.
async fn send(request: reqwest::RequestBuilder, count: impl Fn()) {
    loop {
        count();
        let response = request.try_clone().expect("a body of bytes").send().await;
        match response.map(|response| response.status().as_u16()) {
            Ok(200) => return,
            // It stops, its disk is full, or it has too much to do.
            Ok(408 | 429 | 500..) | Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
            Ok(status) => panic!("a request was answered {status}"),
        }
    }
}

impl Sent {
    /// Ids that were sent to a source, with how often.
    pub(super) fn of(&self, number: usize) -> &BTreeMap<u64, usize> {
        &self.0[&number]
    }

    /// By source and id.
    pub(super) fn all(&self) -> impl Iterator<Item = (usize, u64)> {
        let each = |(number, ids): (&usize, &BTreeMap<u64, usize>)| {
            let number = *number;
            ids.keys().map(move |id| (number, *id)).collect::<Vec<_>>()
        };
        self.0.iter().flat_map(each)
    }

    /// Ids that are missing in the log of a source, and those that are there more often than they were emitted. The ids of the events
    /// are in their order.
    pub(super) fn faults(&self, number: usize, events: &[u64]) -> Vec<String> {
        let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
        for (place, id) in events.iter().enumerate() {
            places.entry(*id).or_default().push(place);
        }
        let mut faults = Vec::new();
        for (id, times) in self.of(number) {
            let found = places.remove(id).unwrap_or_default();
            if found.is_empty() {
                faults.push(format!(
                    "request {id} at source {number} was accepted and is lost"
                ));
            }
            let is_twice = |pair: &[usize]| *times == 1 || pair[1] - pair[0] <= REMEMBERED;
            if found.windows(2).any(is_twice) {
                faults.push(format!(
                    "request {id} at source {number}, sent {times} times, is in the log at {found:?}"
                ));
            }
        }
        let unknown = places.into_keys();
        faults.extend(unknown.map(|id| format!("nobody sent {id} to source {number}")));
        faults
    }

    pub(super) fn shown(&self) -> String {
        let sent = self.0.values().flat_map(BTreeMap::values);
        let (count, times) = sent.fold((0, 0), |(count, times), more| (count + 1, times + more));
        format!("{count} requests accepted, {} sent again", times - count)
    }
}
