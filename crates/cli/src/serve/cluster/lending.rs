//! Lending the workers of a node that follows to the one that leads.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse as _, Response},
};
use futures::StreamExt as _;
use headwater_engine::{DenoEngine, Engine as _, EngineConfig, remote};
use tokio::{
    net::UnixListener,
    sync::{Mutex, mpsc},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    super::server::Server,
    borrowing::body_of,
    door::{Door, Followed},
    secret::{ClusterSecret, Saying},
};

/// The header with the word of a node that asks for workers.
pub(super) const WORD: HeaderName = HeaderName::from_static("headwater-workers");
/// The header with the name of the node that asks.
pub(super) const LEADER: HeaderName = HeaderName::from_static("headwater-leader");
/// The header with its version: the words about runs may be others in the next one.
pub(super) const VERSION: HeaderName = HeaderName::from_static("headwater-version");
/// The header of the answer with the processors of the machine that lends.
pub(super) const PROCESSORS: HeaderName = HeaderName::from_static("headwater-processors");

/// The workers of this node, which it lends as long as it follows.
pub(super) struct Lending {
    secret: ClusterSecret,
    config: EngineConfig,
    /// Serves components that call the API.
    server: Server,
    lent: Mutex<Option<Lent>>,
}

/// An engine that is lent, or waits to be.
struct Lent {
    engine: Arc<DenoEngine>,
    conversation: Option<Conversation>,
    _components: Option<AbortOnDropHandle<()>>,
}

/// The conversation with the node that leads.
struct Conversation {
    task: JoinHandle<()>,
    /// Cancelled to let runs end, and take no more.
    leaving: CancellationToken,
    /// Cancelled to end them.
    over: CancellationToken,
}

impl Lending {
    pub(super) fn new(secret: ClusterSecret, config: EngineConfig, server: Server) -> Self {
        Self {
            secret,
            config,
            server,
            lent: Mutex::default(),
        }
    }

    /// Everything that the node serves to others: its workers, and what is behind the door.
    pub(super) fn router(self: &Arc<Self>, door: &Door) -> Router {
        let (lending, door) = (Arc::clone(self), door.clone());
        Router::new().fallback(move |request: Request| {
            let (lending, door) = (Arc::clone(&lending), door.clone());
            async move {
                match lending.is_asked(request.headers()) {
                    true => lending.answer(request, door.followed()).await,
                    false => door.answer(request).await,
                }
            }
        })
    }

    /// Whether a node of the cluster asks for workers.
    fn is_asked(&self, headers: &HeaderMap) -> bool {
        let word = headers.get(WORD);
        word.is_some_and(|word| self.secret.is_word(Saying::Workers, word.as_bytes()))
    }

    /// Lends the workers to the node that this one follows, whose conversation the answer is.
    async fn answer(&self, request: Request, followed: Option<Followed>) -> Response {
        if !followed.is_some_and(|followed| is_of(&followed, request.headers())) {
            return (
                StatusCode::CONFLICT,
                "this node does not follow the one that asks",
            )
                .into_response();
        }
        let mut lent = self.lent.lock().await;
        let engine = match self.ready(&mut lent).await {
            Ok(engine) => engine,
            Err(reason) => {
                tracing::error!(reason, "this node cannot lend its workers");
                return (StatusCode::SERVICE_UNAVAILABLE, reason).into_response();
            }
        };
        let (outgoing, pieces) = mpsc::unbounded_channel();
        let (leaving, over) = (CancellationToken::new(), CancellationToken::new());
        let incoming = request.into_body().into_data_stream();
        let incoming = incoming.map(|piece| piece.map_err(io::Error::other));
        let incoming = incoming.take_until(over.clone().cancelled_owned()).boxed();
        let wire = remote::Wire { incoming, outgoing };
        let task = tokio::spawn(remote::lend(engine, wire, leaving.clone()));
        if let Some(lent) = &mut *lent {
            lent.conversation = Some(Conversation {
                task,
                leaving,
                over,
            });
        }
        let mut answer = Response::new(body_of(pieces));
        let processors = std::thread::available_parallelism().map_or(1, |count| count.get());
        let headers = answer.headers_mut();
        headers.insert(PROCESSORS, HeaderValue::from(processors));
        answer
    }

    /// The engine, once a former conversation has ended; it is started if need be.
    async fn ready(&self, lent: &mut Option<Lent>) -> Result<Arc<DenoEngine>, String> {
        if let Some(lent) = lent {
            lent.end_conversation(Duration::ZERO).await;
            return Ok(Arc::clone(&lent.engine));
        }
        let components = match &self.config.api_socket {
            Some(socket) => {
                let _ = std::fs::remove_file(socket);
                let listener = UnixListener::bind(socket).map_err(|error| error.to_string())?;
                let serving = self.server.clone().serve_components(listener);
                Some(AbortOnDropHandle::new(tokio::spawn(serving)))
            }
            None => None,
        };
        let engine = DenoEngine::start(self.config.clone()).await;
        let engine = engine.map_err(|error| error.to_string())?;
        *lent = Some(Lent {
            engine: Arc::clone(&engine),
            conversation: None,
            _components: components,
        });
        Ok(engine)
    }

    /// Takes the workers back: runs have the `grace` to end.
    pub(super) async fn end(&self, grace: Duration) {
        if let Some(mut lent) = self.lent.lock().await.take() {
            lent.end_conversation(grace).await;
            lent.engine.shutdown().await;
        }
    }
}

/// Whether the node that is followed asks, and is of the same version.
fn is_of(followed: &Followed, headers: &HeaderMap) -> bool {
    let is = |name: &HeaderName, text: &str| headers.get(name).is_some_and(|value| value == text);
    is(&LEADER, followed.name.as_str()) && is(&VERSION, env!("CARGO_PKG_VERSION"))
}

impl Lent {
    async fn end_conversation(&mut self, grace: Duration) {
        if let Some(Conversation {
            mut task,
            leaving,
            over,
        }) = self.conversation.take()
        {
            leaving.cancel();
            if timeout(grace, &mut task).await.is_err() {
                over.cancel();
                let _ = task.await;
            }
        }
    }
}
