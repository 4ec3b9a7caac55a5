//! A webhook's other end: a real HTTP server whose answers the test gives, and short ways to make
//! webhooks and look at their deliveries.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    body::Body,
    extract::{Request, State},
    response::Response,
};
use headwater_engine::network::NetworkPolicy;
use headwater_model::{
    channel::Channel,
    id::{EmitterId, ListenerId, SourceId, SubscriptionId, WebhookId},
    page::PageRequest,
    subscription::{EmitterPattern, Subscription},
    webhook::DeliveryState,
};
use headwater_platform::{Environment, KeyRing};
use headwater_store::{
    Attempt, Delivery, Owner, Sealed, Store, Webhook, WebhookChange, WebhookSecrets,
};
use serde_json::{Value, json};
use tokio::{
    net::TcpListener,
    sync::{Mutex, mpsc, oneshot},
};

use crate::{
    component::Component,
    engine::PATIENCE,
    world::{T0, World, done},
};

/// The secret of every webhook of the tests.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// A request that has arrived and waits for the test to answer it.
pub(crate) struct Post {
    pub(crate) path: String,
    pub(crate) headers: axum::http::HeaderMap,
    pub(crate) text: String,
    answer: oneshot::Sender<Response>,
}

impl Post {
    pub(crate) fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub(crate) fn body(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub(crate) fn answer(self, response: Response) {
        // Nobody waits any more when the attempt was abandoned.
        let _ = self.answer.send(response);
    }

    pub(crate) fn status(self, status: u16) {
        self.answer(answered(status, ""));
    }
}

pub(crate) fn answered(status: u16, body: impl Into<Body>) -> Response {
    let response = Response::builder().status(status);
    response.body(body.into()).unwrap()
}

pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    posts: Mutex<mpsc::UnboundedReceiver<Post>>,
}

impl Receiver {
    pub(crate) async fn new() -> Self {
        Self::at("127.0.0.1").await
    }

    pub(crate) async fn at(address: &str) -> Self {
        let listener = TcpListener::bind((address, 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (arrived, posts) = mpsc::unbounded_channel();
        let router = axum::Router::new().fallback(receive).with_state(arrived);
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            address,
            posts: Mutex::new(posts),
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The next request that arrives.
    pub(crate) async fn next(&self) -> Post {
        let mut posts = self.posts.lock().await;
        let next = tokio::time::timeout(PATIENCE, posts.recv()).await;
        next.expect("a delivery is attempted").unwrap()
    }

    pub(crate) async fn nothing_arrived(&self) -> bool {
        self.posts.lock().await.is_empty()
    }
}

async fn receive(State(arrived): State<mpsc::UnboundedSender<Post>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let (answer, answered) = oneshot::channel();
    let _ = arrived.send(Post {
        path: parts.uri.path().to_owned(),
        headers: parts.headers,
        text: String::from_utf8(body.to_vec()).unwrap(),
        answer,
    });
    match answered.await {
        Ok(response) => response,
        Err(_) => std::future::pending().await,
    }
}

/// A node whose webhooks may be at this machine.
pub(crate) async fn local() -> World {
    World::with(|config| config.deliveries.network = NetworkPolicy::All).await
}

pub(crate) fn seal(env: &Environment, id: &WebhookId, secret: &str) -> Sealed {
    let key = KeyRing::first([7; 32]);
    let purpose = format!("webhook:{id}");
    key.seal(env, &purpose, secret.as_bytes()).unwrap()
}

/// Everything of a webhook that may be changed.
pub(crate) fn everything(webhook: Webhook) -> WebhookChange {
    WebhookChange {
        name: Some(webhook.name),
        description: Some(webhook.description),
        url: Some(webhook.url),
        active: Some(webhook.active),
        ordering: Some(webhook.ordering),
        secrets: Some(WebhookSecrets {
            current: webhook.secret,
            former: webhook.former_secret,
        }),
        updated_at: webhook.updated_at,
    }
}

impl World {
    pub(crate) async fn webhook(&self, url: &str) -> WebhookId {
        let env = self.platform.environment();
        let id = env.id(WebhookId::new);
        let webhook = Webhook {
            id: id.clone(),
            owner: Owner {
                user_id: self.caller.identity.user.id.clone(),
                workspace_id: None,
            },
            name: None,
            description: None,
            url: url.to_owned(),
            active: true,
            ordering: Default::default(),
            disabled_reason: None,
            secret: seal(env, &id, SECRET),
            former_secret: None,
            failing_since_ms: None,
            created_at: T0.to_seconds(),
            updated_at: T0.to_seconds(),
        };
        self.store.create_webhook(webhook).await.unwrap();
        id
    }

    pub(crate) async fn deliver(&self, emitter: &SourceId, webhook: &WebhookId, channel: &str) {
        let subscription = Subscription {
            id: self.platform.environment().id(SubscriptionId::new),
            user_id: self.caller.identity.user.id.clone(),
            emitter: EmitterPattern::One(EmitterId::from(emitter.clone())),
            listener: ListenerId::Webhook(webhook.clone()),
            channel: Channel::named(channel),
        };
        self.store.subscribe(subscription).await.unwrap();
    }

    /// A source whose events go to a webhook at that URL.
    pub(crate) async fn delivering_to(&self, url: &str) -> (SourceId, WebhookId) {
        let source = self.deploy(&Component::named("emitter")).await;
        let webhook = self.webhook(url).await;
        self.deliver(&source, &webhook, "").await;
        (source, webhook)
    }

    pub(crate) async fn emit(&self, source: &SourceId, events: impl IntoIterator<Item = Value>) {
        let (run, report) = self.manual(source, json!({})).await;
        events.into_iter().for_each(|event| run.emit(event));
        run.returns();
        done(report).await.unwrap();
    }

    pub(crate) async fn record(&self, id: &WebhookId) -> Webhook {
        self.store.webhook(id).await.unwrap().unwrap()
    }

    /// Changes a webhook as its owner would.
    pub(crate) async fn change(&self, id: &WebhookId, change: impl FnOnce(&mut Webhook)) {
        let mut webhook = self.record(id).await;
        change(&mut webhook);
        let change = everything(webhook);
        self.store.update_webhook(id, change).await.unwrap();
        self.platform.webhook_changed(id);
    }

    /// A webhook's deliveries, oldest first.
    pub(crate) async fn deliveries(&self, id: &WebhookId) -> Vec<Delivery> {
        deliveries(&self.store, id).await
    }

    /// The deliveries once the store has that many attempts of them.
    pub(crate) async fn attempted(&self, id: &WebhookId, attempts: usize) -> Vec<Delivery> {
        let recorded = async {
            loop {
                let deliveries = self.deliveries(id).await;
                let made: usize = deliveries.iter().map(|each| each.attempts.len()).sum();
                if made >= attempts {
                    assert_eq!(made, attempts);
                    return deliveries;
                }
                tokio::task::yield_now().await;
            }
        };
        let recorded = tokio::time::timeout(PATIENCE, recorded).await;
        recorded.expect("the attempts are recorded")
    }

    /// What was attempted last, once that many attempts are recorded.
    pub(crate) async fn last_attempt(&self, id: &WebhookId, attempts: usize) -> Attempt {
        let deliveries = self.attempted(id, attempts).await;
        let made = deliveries.into_iter().flat_map(|each| each.attempts);
        made.last().unwrap()
    }

    /// Lets time pass, and what has become due be attempted.
    pub(crate) fn pass(&self, ms: u64) {
        self.clock.advance(ms);
        self.platform.nudge_deliveries();
    }
}

pub(crate) async fn deliveries(store: &Arc<dyn Store>, id: &WebhookId) -> Vec<Delivery> {
    let page = PageRequest::first(100);
    let mut page = store.deliveries(id, None, &page).await.unwrap();
    page.items.reverse();
    page.items
}

pub(crate) fn states(deliveries: &[Delivery]) -> Vec<DeliveryState> {
    deliveries.iter().map(|each| each.state).collect()
}
