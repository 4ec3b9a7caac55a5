//! Lending the workers of a node that follows to the one that leads.

use std::{io, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode},
    response::{IntoResponse as _, Response},
};
use bytes::Bytes;
use futures::{StreamExt as _, stream::BoxStream};
use headwater_engine::{DenoEngine, Engine as _, EngineConfig, remote};
use tokio::{
    sync::{Mutex, mpsc},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::{sync::CancellationToken, task::AbortOnDropHandle};

use super::{
    super::{data_dir::bind_socket, server::Server},
    asking::{LEADER, PROCESSORS, WORD, WORDS, body_of, processors},
    door::{Door, Followed},
    secret::{ClusterSecret, Saying},
};

/// The workers of this node, which it lends as long as it follows.
pub(super) struct Lending {
    secret: ClusterSecret,
    config: EngineConfig,
    /// Serves components that call the API.
    server: Server,
    lent: Mutex<Option<Lent>>,
    /// The reason that was told of last.
    told: parking_lot::Mutex<String>,
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
            told: parking_lot::Mutex::default(),
        }
    }

    /// Everything that the node serves to others: its workers, and what is behind the door.
    pub(super) fn router(self: &Arc<Self>, door: &Door) -> Router {
        let (lending, door) = (Arc::clone(self), door.clone());
        Router::new().fallback(move |request: Request| {
            let (lending, door) = (Arc::clone(&lending), door.clone());
            async move {
                match lending.is_asked(request.headers()) {
                    true => lending.answer(request, &door).await,
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
    async fn answer(&self, request: Request, door: &Door) -> Response {
        let mut lent = self.lent.lock().await;
        let followed = door.followed();
        let Some(leader) = followed.filter(|followed| is_of(followed, request.headers())) else {
            let refused = "this node does not follow the one that asks";
            return (StatusCode::CONFLICT, refused).into_response();
        };
        let lent = match self.ready(&mut lent).await {
            Ok(lent) => lent,
            Err(reason) => {
                self.tell_failed(&reason);
                return (StatusCode::SERVICE_UNAVAILABLE, reason).into_response();
            }
        };
        let (outgoing, pieces) = mpsc::unbounded_channel();
        let incoming = request.into_body().into_data_stream();
        let incoming = incoming.map(|piece| piece.map_err(io::Error::other));
        let superseded = door.clone().superseded(leader);
        lent.converse(incoming.boxed(), outgoing, superseded);
        let mut answer = Response::new(body_of(pieces));
        let processors = HeaderValue::from(processors().get());
        answer.headers_mut().insert(PROCESSORS, processors);
        answer
    }

    /// Says why the workers cannot be lent, once for each reason: the node that leads asks every second.
    fn tell_failed(&self, reason: &str) {
        let mut told = self.told.lock();
        if *told != reason {
            tracing::error!(reason, "this node cannot lend its workers");
            reason.clone_into(&mut told);
        }
    }

    /// The engine, once a former conversation has ended; it is started if need be.
    async fn ready<'a>(&self, lent: &'a mut Option<Lent>) -> Result<&'a mut Lent, String> {
        if let Some(lent) = lent {
            lent.end_conversation(Duration::ZERO).await;
            return Ok(lent);
        }
        let components = match &self.config.api_socket {
            Some(socket) => {
                let listener = bind_socket(socket).map_err(|error| format!("{error:#}"))?;
                let serving = self.server.clone().serve_components(listener);
                Some(AbortOnDropHandle::new(tokio::spawn(serving)))
            }
            None => None,
        };
        let engine = DenoEngine::start(self.config.clone()).await;
        let engine = engine.map_err(|error| error.to_string())?;
        Ok(lent.insert(Lent {
            engine,
            conversation: None,
            _components: components,
        }))
    }

    /// Takes the workers back: runs have the `grace` to end.
    pub(super) async fn end(&self, grace: Duration) {
        let mut lent = self.lent.lock().await;
        if let Some(lent) = &mut *lent {
            lent.end_conversation(grace).await;
            lent.engine.shutdown().await;
        }
        *lent = None;
    }
}

/// Whether the node that is followed asks, and both have the same words.
fn is_of(followed: &Followed, headers: &HeaderMap) -> bool {
    let said = |name: HeaderName| headers.get(name);
    said(LEADER).is_some_and(|leader| leader == followed.name.as_str())
        && said(WORDS).is_some_and(|words| *words == HeaderValue::from(remote::WORDS))
}

impl Lent {
    /// Begins a conversation, which ends once another node leads.
    fn converse(
        &mut self,
        incoming: BoxStream<'static, io::Result<Bytes>>,
        outgoing: mpsc::UnboundedSender<Bytes>,
        superseded: impl Future<Output = ()> + Send + 'static,
    ) {
        let (leaving, over) = (CancellationToken::new(), CancellationToken::new());
        let ended = over.clone().cancelled_owned();
        let incoming = incoming.take_until(async move {
            tokio::select! {
                () = ended => {}
                () = superseded => {}
            }
        });
        let incoming = incoming.boxed();
        let wire = remote::Wire { incoming, outgoing };
        let lending = remote::lend(Arc::clone(&self.engine) as _, wire, leaving.clone());
        let task = tokio::spawn(lending);
        self.conversation = Some(Conversation {
            task,
            leaving,
            over,
        });
    }

    async fn end_conversation(&mut self, grace: Duration) {
        // It stays where it is until it has ended: whoever waits here may be gone before.
        if let Some(Conversation {
            task,
            leaving,
            over,
        }) = &mut self.conversation
        {
            leaving.cancel();
            if timeout(grace, &mut *task).await.is_err() {
                over.cancel();
                let _ = task.await;
            }
            self.conversation = None;
        }
    }
}
