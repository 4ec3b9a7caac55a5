//! The HTTP server: takes connections in and speaks HTTP/1 and HTTP/2 with them, with TLS or without, until the node
//! stops.
//! The number of connections and their waiting times are `connections`' business.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use axum::{Router, body::Body, extract::ConnectInfo, http::Version};
use hyper::{Request, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::conn::auto::Builder,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpListener, TcpStream, UnixListener},
};
use tokio_util::{
    sync::CancellationToken,
    task::{AbortOnDropHandle, TaskTracker},
};
use tower::Service as _;

use super::{
    connections::{self, Answered, Connections, Place, Watched},
    tls::{Greeted, Tls, plain_requests},
};

/// Bytes of a request's head; with HTTP/1, also of a single read or write.
const HEAD_BYTES: u32 = 64 * 1024;
/// Requests at once on one connection of HTTP/2.
const STREAMS: u32 = 128;
/// The interval at which a client of HTTP/2 is asked whether it is there, and the time for its answer.
const PING_EVERY: Duration = Duration::from_secs(20);
/// The time to wait if the machine gives no more connections and none can be closed.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(100);

/// The time that a new connection has for its first request when the node stops: its client has reached a node that served,
/// and would be refused by one that has just been asked to restart.
const FIRST_REQUEST_WITHIN: Duration = Duration::from_millis(250);

/// The server of a node: its connections and their bounds.
#[derive(Clone)]
pub(super) struct Server {
    router: Router,
    connections: Arc<Connections>,
    protocol: Arc<Builder<TokioExecutor>>,
    tls: Option<Arc<Tls>>,
    stopping: CancellationToken,
    tasks: TaskTracker,
}

impl Server {
    /// Serves until `stopping` is cancelled; then connections end with the requests that they have.
    pub(super) fn new(
        router: Router,
        connections: Arc<Connections>,
        tls: Option<Arc<Tls>>,
        stopping: CancellationToken,
    ) -> Self {
        let mut protocol = Builder::new(TokioExecutor::new());
        // Heads have their time from `connections`: that of HTTP/1 here would count pauses between
        // requests as well.
        protocol.http1().max_buf_size(HEAD_BYTES as usize);
        protocol
            .http2()
            .timer(TokioTimer::new())
            .max_header_list_size(HEAD_BYTES)
            .max_concurrent_streams(STREAMS)
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_EVERY);
        Self {
            router,
            connections,
            protocol: Arc::new(protocol),
            tls,
            stopping,
            tasks: TaskTracker::new(),
        }
    }

    /// Takes connections from everybody until the node stops, and returns when the last one is gone.
    pub(super) async fn serve(self, listener: TcpListener) {
        let _watching = self.watched();
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                () = self.stopping.cancelled() => break,
            };
            match accepted {
                Ok((stream, peer)) => {
                    connections::tune(&stream);
                    self.take(|server, place| server.serve_public(stream, peer, place));
                }
                Err(error) => self.failed_to_accept(&error).await,
            }
        }
        drop(listener);
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Takes connections of components until it is aborted.
    pub(super) async fn serve_components(self, listener: UnixListener) {
        let _watching = self.watched();
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    self.take(|server, place| server.serve_stream(stream, None, place));
                }
                Err(error) => self.failed_to_accept(&error).await,
            }
        }
    }

    fn watched(&self) -> AbortOnDropHandle<()> {
        AbortOnDropHandle::new(tokio::spawn(Arc::clone(&self.connections).watch()))
    }

    async fn failed_to_accept(&self, error: &io::Error) {
        // A client that is gone already is not a failure of the machine.
        if matches!(
            error.kind(),
            io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset
        ) {
            return;
        }
        tracing::warn!(%error, "no connection can be accepted");
        if !self.connections.make_room() {
            tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
        }
    }

    /// Serves a connection, as soon as there is room for it.
    fn take<F>(&self, serve: impl FnOnce(Self, Arc<Place>) -> F)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let Some(place) = self.connections.enter() else {
            return;
        };
        let place = Arc::new(place);
        let connection = Arc::clone(&place.connection);
        let task = self.tasks.spawn(serve(self.clone(), place));
        Place::served_by(&connection, task.abort_handle());
    }

    /// Serves a connection of anybody. The time for a request's head covers the handshake before it.
    async fn serve_public(mut self, stream: TcpStream, peer: SocketAddr, place: Arc<Place>) {
        let Some(tls) = &self.tls else {
            return self.serve_stream(stream, Some(peer), place).await;
        };
        let greeted = tokio::select! {
            greeted = tls.greet(stream) => greeted,
            () = stopped_before_use(&self.stopping) => return,
        };
        // Apart, so that connections without TLS do not take the memory of those with it.
        match greeted {
            Ok(Greeted::Encrypted(stream)) => {
                Box::pin(self.serve_stream(stream, Some(peer), place)).await;
            }
            Ok(Greeted::Plain(stream)) => {
                self.router = plain_requests();
                Box::pin(self.serve_stream(stream, Some(peer), place)).await;
            }
            Err(error) => tracing::debug!(%error, %peer, "a TLS handshake failed"),
        }
    }

    async fn serve_stream<S>(self, stream: S, peer: Option<SocketAddr>, place: Arc<Place>)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let Self {
            router,
            protocol,
            stopping,
            ..
        } = self;
        let connection = Arc::clone(&place.connection);
        let io = TokioIo::new(Watched::new(stream, Arc::clone(&place)));
        let service = service_fn(move |request: Request<Incoming>| {
            let under_way = place.begin_request(request.version() == Version::HTTP_2);
            let mut request = request.map(Body::new);
            if let Some(peer) = peer {
                request.extensions_mut().insert(ConnectInfo(peer));
            }
            let answering = router.clone().call(request);
            async move {
                let response = answering.await?;
                Ok::<_, Infallible>(response.map(|body| Answered::new(body, under_way)))
            }
        });
        let mut conversation = std::pin::pin!(protocol.serve_connection(io, service));
        let stopped = async {
            stopping.cancelled().await;
            if !connection.is_used() {
                stopped_before_use(&stopping).await;
            }
        };
        let ended = tokio::select! {
            ended = conversation.as_mut() => ended,
            () = stopped => {
                conversation.as_mut().graceful_shutdown();
                conversation.await
            }
        };
        if let Err(error) = ended {
            tracing::trace!(%error, "a connection ended");
        }
    }
}

/// Waits until the node stops, and then for the time of a first request.
async fn stopped_before_use(stopping: &CancellationToken) {
    stopping.cancelled().await;
    tokio::time::sleep(FIRST_REQUEST_WITHIN).await;
}

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use headwater_api::ConnectionCounts;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;
    use crate::serve::connections::ConnectionLimits;

    #[tokio::test]
    async fn a_connection_that_a_stopping_node_has_taken_gets_the_answer_to_its_first_request() {
        let limits = ConnectionLimits {
            most: 1,
            head: Duration::from_secs(10),
            idle: Duration::from_secs(10),
        };
        let connections = Connections::new(limits, ConnectionCounts::default());
        let place = Arc::new(connections.enter().unwrap());
        let router = Router::new().route("/", get(async || "here"));
        let stopping = CancellationToken::new();
        stopping.cancel();
        let server = Server::new(router, connections, None, stopping);
        let (mut client, stream) = duplex(1024);
        let request = b"GET / HTTP/1.1\r\nhost: node\r\nconnection: close\r\n\r\n";
        client.write_all(request).await.unwrap();
        server.serve_stream(stream, None, place).await;
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
        assert!(answer.ends_with("here"), "{answer}");
    }
}
