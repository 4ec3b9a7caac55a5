//! A webhook's receiver: takes every POST and says when it came. On a thread of its own, so that it is in nobody's way.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail};
use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use tokio::{net::TcpListener, sync::mpsc};

/// Longer than any load takes.
const PATIENCE: Duration = Duration::from_secs(300);

/// A POST that came.
pub(crate) struct Arrival {
    /// Milliseconds since the epoch.
    pub(crate) at_ms: f64,
    pub(crate) body: Bytes,
}

#[derive(Clone)]
struct Taken {
    count: Arc<AtomicUsize>,
    /// Those at `/fail-often`.
    attempts: Arc<AtomicUsize>,
    arrivals: mpsc::UnboundedSender<Arrival>,
}

/// The server; it ends with the program.
pub(crate) struct Receiver {
    address: SocketAddr,
    count: Arc<AtomicUsize>,
    arrivals: mpsc::UnboundedReceiver<Arrival>,
}

impl Receiver {
    /// `/` and `/{anything}` are answered with 200, `/fail-often` only sometimes, `/hang` never.
    pub(crate) async fn start() -> Result<Self> {
        Self::start_at("127.0.0.1:0").await
    }

    /// The same at every address of the machine, so that each of many webhooks has a host of its own.
    pub(crate) async fn start_on_all_addresses() -> Result<Self> {
        Self::start_at("0.0.0.0:0").await
    }

    async fn start_at(address: &'static str) -> Result<Self> {
        let (sender, arrivals) = mpsc::unbounded_channel();
        let count = Arc::new(AtomicUsize::new(0));
        let taken = Taken {
            count: Arc::clone(&count),
            attempts: Arc::default(),
            arrivals: sender,
        };
        let (told, bound) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || -> Result<()> {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()?;
            runtime.block_on(async {
                let listener = TcpListener::bind(address).await?;
                let _ = told.send(listener.local_addr()?);
                let routes = Router::new()
                    .route("/hang", post(std::future::pending::<()>))
                    .route("/fail-often", post(fail_often))
                    .fallback(take)
                    .with_state(taken);
                Ok(axum::serve(listener, routes).await?)
            })
        });
        let address = bound.await.context("the receiver did not start")?;
        Ok(Self {
            address,
            count,
            arrivals,
        })
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// How many have come so far.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// The next one.
    pub(crate) async fn next(&mut self) -> Result<Arrival> {
        let next = tokio::time::timeout(PATIENCE, self.arrivals.recv()).await;
        next.context("nothing came")?.context("the receiver ended")
    }

    /// Waits until so many have come; those are not handed out any more.
    pub(crate) async fn until(&mut self, count: usize) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while self.count() < count {
            if Instant::now() > deadline {
                bail!("{} of {count} came", self.count());
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        while self.arrivals.try_recv().is_ok() {}
        Ok(())
    }
}

async fn take(State(taken): State<Taken>, body: Bytes) {
    let at_ms = now_ms();
    let _ = taken.arrivals.send(Arrival { at_ms, body });
    taken.count.fetch_add(1, Ordering::Relaxed);
}

/// Every other attempt fails, so that most events are accepted at a retry.
async fn fail_often(State(taken): State<Taken>) -> StatusCode {
    match taken.attempts.fetch_add(1, Ordering::Relaxed) % 2 {
        0 => StatusCode::SERVICE_UNAVAILABLE,
        _ => StatusCode::OK,
    }
}

/// Milliseconds since the epoch, with what is finer behind the point.
pub(crate) fn now_ms() -> f64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs_f64() * 1e3
}
