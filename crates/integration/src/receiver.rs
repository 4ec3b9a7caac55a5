//! An HTTP server of the test: it keeps what it receives and answers as the test says.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use axum::{
    Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, HeaderName, Method, StatusCode, Uri},
    response::{IntoResponse as _, Response},
    serve::Listener,
};
use futures::{
    FutureExt as _,
    future::{BoxFuture, ready},
};
use serde_json::Value;
use tokio::sync::watch;

use crate::https::TlsListener;

/// Far beyond what anything here takes.
const DEADLINE: Duration = Duration::from_secs(90);

/// A request that arrived.
#[derive(Debug, Clone)]
pub struct Received {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path.
    pub path: String,
    /// The query, empty if there is none.
    pub query: String,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Received {
    /// The body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }
}

/// An answer to be given.
#[derive(Debug, Clone)]
pub struct Reply {
    /// The status code.
    pub status: u16,
    /// The value of `Content-Type`.
    pub content_type: &'static str,
    /// Further headers.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
}

impl Reply {
    /// An answer without a body.
    pub fn status(status: u16) -> Self {
        Self {
            status,
            content_type: "text/plain",
            headers: Vec::new(),
            body: String::new(),
        }
    }

    /// 200 with JSON.
    pub fn json(body: &Value) -> Self {
        Self {
            status: 200,
            content_type: "application/json",
            headers: Vec::new(),
            body: body.to_string(),
        }
    }

    /// The same with another status code.
    #[must_use]
    pub fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// The same with one more header.
    #[must_use]
    pub fn with_header(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    /// 200 with a JavaScript module.
    pub fn module(code: &str) -> Self {
        Self {
            status: 200,
            content_type: "text/javascript",
            headers: Vec::new(),
            body: code.to_owned(),
        }
    }
}

type Answering = dyn Fn(Received) -> BoxFuture<'static, Reply> + Send + Sync;

#[derive(Clone)]
struct Shared {
    received: watch::Sender<Vec<Received>>,
    answering: Arc<Mutex<Arc<Answering>>>,
}

/// The server. It answers 200 until told otherwise, and ends with the test.
pub struct Receiver {
    address: SocketAddr,
    hosts: Vec<String>,
    shared: Shared,
}

impl Receiver {
    /// Starts it on a free port of the loopback interface.
    pub async fn start() -> Self {
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await;
        Self::serve(listener.unwrap(), &[])
    }

    /// Starts it with TLS and a certificate for these hosts. A node reaches it under their names with
    /// [`NodeBuilder::reaching`](crate::NodeBuilder::reaching).
    pub async fn secure(hosts: &[&str]) -> Self {
        Self::serve(TlsListener::bind(hosts).await, hosts)
    }

    /// The same with a certificate that it has signed itself, of an authority or not, and that certificate as PEM.
    pub async fn self_signed(hosts: &[&str], is_authority: bool) -> (Self, String) {
        let (listener, pem) = TlsListener::bind_self_signed(hosts, is_authority).await;
        (Self::serve(listener, hosts), pem)
    }

    fn serve(listener: impl Listener<Addr = SocketAddr>, hosts: &[&str]) -> Self {
        let address = listener.local_addr().unwrap();
        let answering: Arc<Answering> = Arc::new(|_| ready(Reply::status(200)).boxed());
        let shared = Shared {
            received: watch::Sender::new(Vec::new()),
            answering: Arc::new(Mutex::new(answering)),
        };
        let router = Router::new().fallback(receive).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let hosts = hosts.iter().map(|&host| host.to_owned()).collect();
        Self {
            address,
            hosts,
            shared,
        }
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The hosts it has a certificate for.
    pub(crate) fn hosts(&self) -> &[String] {
        &self.hosts
    }

    /// Its address, without a trailing slash.
    pub fn url(&self) -> String {
        let scheme = if self.hosts.is_empty() {
            "http"
        } else {
            "https"
        };
        format!("{scheme}://{}", self.address)
    }

    /// Sets how requests are answered from now on.
    pub fn answer(&self, answering: impl Fn(&Received) -> Reply + Send + Sync + 'static) {
        self.answer_later(move |received| ready(answering(&received)));
    }

    /// The same for answers that take more than a look at the request.
    pub fn answer_later<Answer: Future<Output = Reply> + Send + 'static>(
        &self,
        answering: impl Fn(Received) -> Answer + Send + Sync + 'static,
    ) {
        let answering: Arc<Answering> = Arc::new(move |received| answering(received).boxed());
        *self.shared.answering.lock().unwrap() = answering;
    }

    /// The requests that have arrived so far.
    pub fn received(&self) -> Vec<Received> {
        self.shared.received.borrow().clone()
    }

    /// The bodies that have arrived so far, as text.
    pub fn bodies(&self) -> Vec<String> {
        self.received().iter().map(Received::text).collect()
    }

    /// Forgets what has arrived so far.
    pub fn clear(&self) {
        self.shared.received.send_modify(Vec::clear);
    }

    /// Waits until what has arrived is as wanted.
    pub async fn until(&self, wanted: impl Fn(&[Received]) -> bool) -> Vec<Received> {
        let mut arriving = self.shared.received.subscribe();
        let waiting = arriving.wait_for(|received| wanted(received));
        match tokio::time::timeout(DEADLINE, waiting).await {
            Ok(received) => received.unwrap().clone(),
            Err(_) => panic!(
                "what arrived did not become as wanted: {:#?}",
                self.received()
            ),
        }
    }
}

async fn receive(
    State(shared): State<Shared>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let received = Received {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: uri.query().unwrap_or_default().to_owned(),
        headers,
        body,
    };
    let answering = Arc::clone(&shared.answering.lock().unwrap());
    let reply = answering(received.clone()).await;
    shared.received.send_modify(|all| all.push(received));
    let status = StatusCode::from_u16(reply.status).unwrap();
    let headers = std::iter::once(("content-type", reply.content_type.to_owned()));
    let headers: HeaderMap = headers
        .chain(reply.headers)
        .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()))
        .collect();
    (status, headers, reply.body).into_response()
}
