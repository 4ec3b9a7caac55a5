//! An API that sources poll: remembers who asked when. On a thread of its own, so that it is in nobody's way.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use anyhow::{Context as _, Result};
use axum::{
    Router,
    extract::{Path, State},
    routing::get,
};
use tokio::net::TcpListener;

/// One poll in so many finds something new.
const POLLS_PER_EVENT: u64 = 20;

/// The times of the polls, by the poller's number.
pub(crate) type Polls = HashMap<usize, Vec<Instant>>;

#[derive(Default)]
struct Seen {
    count: u64,
    polls: Polls,
}

/// The server; it ends with the program.
pub(crate) struct Polled {
    address: SocketAddr,
    seen: Arc<Mutex<Seen>>,
}

impl Polled {
    /// Answers `/{number}` of a poller with JSON: `n` counts the answers, `is_new` says whether to emit it.
    pub(crate) async fn start() -> Result<Self> {
        let seen = Arc::<Mutex<Seen>>::default();
        let answering = Arc::clone(&seen);
        let (told, address) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || -> Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let listener = TcpListener::bind("127.0.0.1:0").await?;
                let _ = told.send(listener.local_addr()?);
                let routes = Router::new()
                    .route("/{poller}", get(answer))
                    .with_state(answering);
                Ok(axum::serve(listener, routes).await?)
            })
        });
        let address = address.await.context("the polled API did not start")?;
        Ok(Self { address, seen })
    }

    /// The address for the poller of that number.
    pub(crate) fn url(&self, poller: usize) -> String {
        format!("http://{}/{poller}", self.address)
    }

    /// How many have polled.
    pub(crate) fn pollers(&self) -> usize {
        locked(&self.seen).polls.len()
    }

    /// The first poll of each that has polled.
    pub(crate) fn first_polls(&self) -> HashMap<usize, Instant> {
        let seen = locked(&self.seen);
        let firsts = seen.polls.iter();
        firsts
            .filter_map(|(poller, polls)| Some((*poller, *polls.first()?)))
            .collect()
    }

    /// All polls so far; forgotten here, because others poll from now on.
    pub(crate) fn take(&self) -> Polls {
        std::mem::take(&mut locked(&self.seen).polls)
    }
}

fn locked(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn answer(
    State(seen): State<Arc<Mutex<Seen>>>,
    Path(poller): Path<usize>,
) -> ([(&'static str, &'static str); 1], String) {
    let mut seen = locked(&seen);
    seen.count += 1;
    seen.polls.entry(poller).or_default().push(Instant::now());
    let n = seen.count;
    let is_new = n.is_multiple_of(POLLS_PER_EVENT);
    (
        [("content-type", "application/json")],
        format!("{{\"n\":{n},\"is_new\":{is_new}}}"),
    )
}
