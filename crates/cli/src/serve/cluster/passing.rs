//! Passing requests on to the node that leads, over connections that are kept, and the words that nodes tell each other
//! with a request: that it comes from a node, and which client sent it.

use std::{net::SocketAddr, time::Duration};

use axum::{
    body::Body,
    extract::{ConnectInfo, Request},
    http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header, uri::PathAndQuery},
    response::Response,
};
use hyper::{body::Body as _, client::conn::http1::SendRequest};
use parking_lot::Mutex;
use tokio::time::timeout;

use super::{
    address::NodeAddress,
    connecting::Connecting,
    secret::{ClusterSecret, Saying},
};

/// The header by which a node knows another one.
const WORD: HeaderName = HeaderName::from_static("headwater-cluster");
/// The header with the address of the client.
const CLIENT: HeaderName = HeaderName::from_static("headwater-client");
/// The header of an answer that says that the node does not lead, and has done nothing.
const MISDIRECTED: HeaderName = HeaderName::from_static("headwater-misdirected");
/// Headers that are about one connection, not about the request.
const OF_CONNECTION: [HeaderName; 9] = [
    header::CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
    header::EXPECT,
    HeaderName::from_static("http2-settings"),
];
/// Connections that are kept for later requests.
const KEPT_MAX: usize = 64;
/// The largest body that is kept until the request is answered, so that it can be sent a second time.
const REPEATABLE_BYTES: u64 = 64 * 1024;
/// The time for such a body to arrive.
const ARRIVED_WITHIN: Duration = Duration::from_secs(120);

/// The reason for which a request was not answered by the node that leads.
pub(super) enum Unpassed {
    /// It has not been carried out, and can be passed on to another node.
    Whole(Box<Request>),
    /// It was sent, and the answer did not come.
    Begun,
}

/// The way to the node that leads.
pub(super) struct Passing {
    secret: ClusterSecret,
    connecting: Connecting,
    word: HeaderValue,
    kept: Mutex<Kept>,
}

/// Connections to one node that have no request.
#[derive(Default)]
struct Kept {
    to: Option<NodeAddress>,
    connections: Vec<SendRequest<Body>>,
}

impl Passing {
    pub(super) fn new(secret: ClusterSecret, connecting: Connecting) -> Self {
        let word = secret.word(Saying::PassedOn);
        Self {
            secret,
            connecting,
            word,
            kept: Mutex::default(),
        }
    }

    /// Takes the words of another node from a request. Whether it comes from one: then it has its client's address.
    pub(super) fn take_words(&self, request: &mut Request) -> bool {
        let headers = request.headers_mut();
        let (word, client) = (headers.remove(WORD), headers.remove(CLIENT));
        if !word.is_some_and(|word| self.secret.is_word(Saying::PassedOn, word.as_bytes())) {
            return false;
        }
        // Its own connection is no client's; a component on that node has no address.
        request.extensions_mut().remove::<ConnectInfo<SocketAddr>>();
        let client = client.and_then(|client| client.to_str().ok()?.parse::<SocketAddr>().ok());
        if let Some(client) = client {
            request.extensions_mut().insert(ConnectInfo(client));
        }
        true
    }

    /// Passes a request on, and waits for the beginning of its answer until the node has been `superseded`.
    ///
    /// # Errors
    /// The node could not be reached, does not lead, or went away.
    pub(super) async fn pass(
        &self,
        to: &NodeAddress,
        request: Request,
        superseded: impl Future<Output = ()>,
    ) -> Result<Response, Unpassed> {
        let (mut request, spare) = repeatable(request).await;
        self.add_words(request.headers_mut(), &request_client(&spare.extensions));
        let mut connection = match self.connection(to).await {
            Ok(connection) => connection,
            Err(error) => {
                tracing::debug!(%to, %error, "the node that leads cannot be reached");
                return Err(Unpassed::Whole(Box::new(spare.again(request))));
            }
        };
        let answered = tokio::select! {
            answered = connection.try_send_request(request) => answered,
            () = superseded => return Err(spare.unanswered()),
        };
        let answer = match answered {
            Ok(answer) => answer,
            Err(mut failed) => {
                return Err(match failed.take_message() {
                    Some(request) => Unpassed::Whole(Box::new(spare.again(request))),
                    None => spare.unanswered(),
                });
            }
        };
        let is_misdirected = answer.headers().contains_key(MISDIRECTED);
        if is_misdirected && spare.body.is_some() {
            return Err(spare.repeated());
        }
        self.keep(to, connection);
        let mut answer = answer.map(Body::new);
        strip(answer.headers_mut());
        // Its body cannot be had again; the answer says that nothing was done.
        Ok(directed(answer))
    }

    fn add_words(&self, headers: &mut HeaderMap, client: &Option<HeaderValue>) {
        headers.insert(WORD, self.word.clone());
        if let Some(client) = client {
            headers.insert(CLIENT, client.clone());
        }
    }

    async fn connection(&self, to: &NodeAddress) -> Result<SendRequest<Body>, String> {
        if let Some(kept) = self.take_kept(to) {
            return Ok(kept);
        }
        self.connecting.connect(to).await
    }

    fn take_kept(&self, to: &NodeAddress) -> Option<SendRequest<Body>> {
        let mut kept = self.kept.lock();
        if kept.to.as_ref() != Some(to) {
            *kept = Kept {
                to: Some(to.clone()),
                ..Kept::default()
            };
        }
        kept.connections
            .retain(|connection| !connection.is_closed());
        let free = kept.connections.iter().position(SendRequest::is_ready)?;
        Some(kept.connections.swap_remove(free))
    }

    /// Keeps a connection whose answer may still be arriving.
    fn keep(&self, to: &NodeAddress, connection: SendRequest<Body>) {
        let mut kept = self.kept.lock();
        if kept.to.as_ref() != Some(to) {
            return;
        }
        if kept.connections.len() >= KEPT_MAX {
            // One that carries a stream would keep its place for long; it closes once its answer has ended.
            let busy = kept.connections.iter().position(|kept| !kept.is_ready());
            match busy {
                Some(busy) => drop(kept.connections.swap_remove(busy)),
                None => return,
            }
        }
        kept.connections.push(connection);
    }
}

/// The answer of a node that does not lead to another one that took it for the one that does.
pub(super) fn misdirected(mut answer: Response) -> Response {
    answer
        .headers_mut()
        .insert(MISDIRECTED, HeaderValue::from_static("1"));
    answer
}

/// The answer without the mark of a misdirected one, which components may have set.
pub(super) fn directed(mut answer: Response) -> Response {
    answer.headers_mut().remove(MISDIRECTED);
    answer
}

/// A request without its body, if that is not small.
struct Spare {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    extensions: axum::http::Extensions,
    /// `None` if it was passed on piece by piece.
    body: Option<bytes::Bytes>,
}

/// The request as it goes to another node, and what is needed to send it once more.
async fn repeatable(request: Request) -> (Request, Spare) {
    let (mut head, body) = request.into_parts();
    let spare = |body| Spare {
        method: head.method.clone(),
        uri: head.uri.clone(),
        headers: head.headers.clone(),
        extensions: head.extensions.clone(),
        body,
    };
    let is_small = body
        .size_hint()
        .exact()
        .is_some_and(|bytes| bytes <= REPEATABLE_BYTES);
    let (body, spare) = match is_small {
        false => (body, spare(None)),
        true => match arrived(body).await {
            Ok(bytes) => (Body::from(bytes.clone()), spare(Some(bytes))),
            // The client is gone, or as good as gone: the node that leads sees a body that breaks off.
            Err(error) => (Body::from_stream(broken(error)), spare(None)),
        },
    };
    if !head.headers.contains_key(header::HOST)
        && let Some(authority) = head.uri.authority()
        && let Ok(host) = HeaderValue::from_str(authority.as_str())
    {
        head.headers.insert(header::HOST, host);
    }
    strip(&mut head.headers);
    let path = head.uri.path_and_query().cloned();
    head.uri = Uri::from(path.unwrap_or(PathAndQuery::from_static("/")));
    head.version = axum::http::Version::HTTP_11;
    (Request::from_parts(head, body), spare)
}

async fn arrived(body: Body) -> Result<bytes::Bytes, axum::Error> {
    let arriving = axum::body::to_bytes(body, REPEATABLE_BYTES as usize);
    let arrived = timeout(ARRIVED_WITHIN, arriving).await;
    arrived.map_err(axum::Error::new)?
}

fn broken(error: axum::Error) -> impl futures::Stream<Item = Result<bytes::Bytes, axum::Error>> {
    futures::stream::once(std::future::ready(Err(error)))
}

impl Spare {
    /// The request as it came, with the body of the one that was not sent.
    fn again(self, unsent: Request) -> Request {
        let body = unsent.into_body();
        self.with(body)
    }

    /// A request that was sent and not answered: only one without effects may be sent again.
    fn unanswered(self) -> Unpassed {
        match self.method.is_safe() {
            true => self.repeated(),
            false => Unpassed::Begun,
        }
    }

    fn repeated(mut self) -> Unpassed {
        match self.body.take() {
            Some(bytes) => Unpassed::Whole(Box::new(self.with(Body::from(bytes)))),
            None => Unpassed::Begun,
        }
    }

    fn with(self, body: Body) -> Request {
        let mut request = Request::new(body);
        *request.method_mut() = self.method;
        *request.uri_mut() = self.uri;
        *request.headers_mut() = self.headers;
        *request.extensions_mut() = self.extensions;
        request
    }
}

fn request_client(extensions: &axum::http::Extensions) -> Option<HeaderValue> {
    let ConnectInfo(peer) = extensions.get::<ConnectInfo<SocketAddr>>()?;
    HeaderValue::from_str(&peer.to_string()).ok()
}

/// Takes out the headers that are about one connection.
fn strip(headers: &mut HeaderMap) {
    let named: Vec<HeaderName> = headers
        .get_all(header::CONNECTION)
        .iter()
        .filter_map(|names| names.to_str().ok())
        .flat_map(|names| names.split(','))
        .filter_map(|name| name.trim().parse().ok())
        .collect();
    for name in named.into_iter().chain(OF_CONNECTION) {
        headers.remove(name);
    }
}
