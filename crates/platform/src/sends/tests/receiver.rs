//! The other end of a send: a real HTTP server whose answers the test gives.

use std::net::SocketAddr;

use axum::{
    body::{Body, Bytes},
    extract::{Request, State},
    http::HeaderMap,
    response::Response,
};
use tokio::{
    net::TcpListener,
    sync::{Mutex, mpsc, oneshot},
};

use super::bench::PATIENCE;

/// A request that has arrived and waits for its answer.
pub(super) struct Arrived {
    pub(super) method: String,
    pub(super) target: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    answer: oneshot::Sender<Response>,
}

impl Arrived {
    pub(super) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub(super) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(super) fn status(self, status: u16) {
        self.answer(status, &[], "");
    }

    pub(super) fn answer(self, status: u16, headers: &[(&str, &str)], body: &str) {
        let mut response = Response::builder().status(status);
        for (name, value) in headers {
            response = response.header(*name, *value);
        }
        let response = response.body(Body::from(body.to_owned())).unwrap();
        // Nobody waits any more when the attempt is gone.
        let _ = self.answer.send(response);
    }
}

pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    arrivals: Mutex<mpsc::UnboundedReceiver<Arrived>>,
}

impl Receiver {
    pub(super) async fn new() -> Self {
        Self::at("127.0.0.1").await
    }

    pub(super) async fn at(ip: &str) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrived, arrivals) = mpsc::unbounded_channel();
        let router = axum::Router::new().fallback(receive).with_state(arrived);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            arrivals: Mutex::new(arrivals),
        }
    }

    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(super) async fn next(&self) -> Arrived {
        let mut arrivals = self.arrivals.lock().await;
        let next = tokio::time::timeout(PATIENCE, arrivals.recv()).await;
        next.expect("a request arrives").unwrap()
    }

    pub(super) async fn is_empty(&self) -> bool {
        self.arrivals.lock().await.is_empty()
    }
}

async fn receive(
    State(arrived): State<mpsc::UnboundedSender<Arrived>>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let (answer, answered) = oneshot::channel();
    let _ = arrived.send(Arrived {
        method: parts.method.to_string(),
        target: parts.uri.to_string(),
        headers: parts.headers,
        body,
        answer,
    });
    match answered.await {
        Ok(response) => response,
        Err(_) => std::future::pending().await,
    }
}
