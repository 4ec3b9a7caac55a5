//! The platform as one object: what it is made of, its start and its end.

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use headwater_engine::{Engine, EngineStatus};
use headwater_model::app::AppCatalog;
use headwater_store::{NodeEpoch, Store};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    accounts::{Provider, Turns},
    background::Nudges,
    calls::CALLS_MAX,
    connects::Connects,
    delivery::{Couriers, DeliveryConfig},
    environment::Environment,
    error::PlatformError,
    feeds::Feeds,
    ingress::Endpoints,
    keys::KeyUses,
    metrics::Metrics,
    proxies::TrustedProxies,
    quotas::Quotas,
    rate_limits::RateLimits,
    runner::Runners,
    secrets::{KeyFile, KeyRing, SecretKeys},
    sources::Lifecycles,
    spans::Tracer,
    users::Plan,
};

/// What a node is configured with, as far as use cases need it.
#[derive(Debug, Clone)]
pub struct PlatformConfig {
    /// Where the outside reaches this node, without a trailing slash.
    pub public_url: String,
    /// Serves `https://{token}.{domain}/` besides `{public_url}/e/{token}`.
    pub endpoint_domain: Option<String>,
    /// HTTP invocations that run at once in one source's worker.
    pub source_concurrency: usize,
    /// Events kept per emitter and channel class.
    pub retained_events: u32,
    /// Events that may wait for the sources of one owner; more are not queued.
    pub queued_events_per_owner: u32,
    /// How long runs and attempts may take to finish when the node is asked to stop.
    pub shutdown_grace: Duration,
    /// How events are delivered to webhooks.
    pub deliveries: DeliveryConfig,
    /// The apps that the node knows.
    pub apps: AppCatalog,
    /// As which kind of user the API shows everybody.
    pub plan: Plan,
    /// Invocations that a user may have per UTC day, if that is limited.
    pub daily_invocations_quota: Option<u64>,
    /// Requests that a key may make per second, if that is limited.
    pub rate_limit: Option<NonZeroU32>,
    /// Who is believed about who called an endpoint.
    pub trusted_proxies: TrustedProxies,
}

/// What an [`Platform`] is put together from.
pub struct Parts {
    /// The store.
    pub store: Arc<dyn Store>,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// Clock and randomness.
    pub env: Environment,
    /// The keys of everything encrypted.
    pub secret_keys: KeyRing,
    /// Where they are kept, if the node may change them.
    pub key_file: Option<Arc<dyn KeyFile>>,
    /// Who records spans, if anybody.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// The configuration.
    pub config: PlatformConfig,
}

/// The platform. Cheap to share; every use case is a method.
pub struct Platform {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) env: Environment,
    pub(crate) secret_keys: SecretKeys,
    pub(crate) config: PlatformConfig,
    pub(crate) epoch: NodeEpoch,
    pub(crate) runners: Runners,
    pub(crate) couriers: Couriers,
    pub(crate) lifecycles: Lifecycles,
    /// The way to apps.
    pub(crate) provider: Provider,
    /// Whose turn it is with an account.
    pub(crate) turns: Turns,
    pub(crate) connects: Connects,
    /// Held from reading a webhook until it is written, so that changes at the same time keep each other.
    pub(crate) webhook_changes: tokio::sync::Mutex<()>,
    pub(crate) endpoints: Endpoints,
    pub(crate) key_uses: KeyUses,
    pub(crate) rate_limits: RateLimits,
    pub(crate) quotas: Quotas,
    pub(crate) nudges: Nudges,
    pub(crate) metrics: Arc<Metrics>,
    pub(crate) tracer: Option<Arc<dyn Tracer>>,
    pub(crate) feeds: Arc<Feeds>,
    /// Room for calls that belong to no source.
    pub(crate) calls: Semaphore,
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the node is asked to stop.
    pub(crate) stopping: CancellationToken,
}

/// Whether the node can do its work, for `/readyz`.
#[derive(Debug, Clone)]
pub struct Readiness {
    /// Why the store does not answer or cannot be written, if so: for the log, not for whoever asks.
    pub store_error: Option<String>,
    /// What the engine is doing.
    pub engine: EngineStatus,
    /// Whether what is stored encrypted opens with the node's secret key.
    pub is_secret_key_fit: bool,
    /// Sources with work in memory.
    pub running_sources: usize,
}

impl Platform {
    /// Registers the node's start and finishes what a dead node left undone. Background work and
    /// sources run from then on.
    ///
    /// # Errors
    /// The store cannot be used.
    pub async fn start(parts: Parts) -> Result<Arc<Self>, PlatformError> {
        let couriers = Couriers::new(&parts.config.deliveries)?;
        let provider = Provider::new(&parts.config.deliveries)?;
        let epoch = parts.store.start_node(parts.env.now_ms()).await?;
        let platform = Arc::new(Self {
            store: parts.store,
            engine: parts.engine,
            env: parts.env,
            secret_keys: SecretKeys::new(parts.secret_keys, parts.key_file),
            rate_limits: RateLimits::new(parts.config.rate_limit),
            config: parts.config,
            epoch,
            runners: Runners::default(),
            couriers,
            lifecycles: Lifecycles::default(),
            provider,
            turns: Turns::default(),
            connects: Connects::default(),
            webhook_changes: tokio::sync::Mutex::default(),
            endpoints: Endpoints::default(),
            key_uses: KeyUses::default(),
            quotas: Quotas::default(),
            nudges: Nudges::default(),
            metrics: Arc::new(Metrics::new()),
            tracer: parts.tracer,
            feeds: Arc::default(),
            calls: Semaphore::new(CALLS_MAX),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        });
        platform.end_rotation().await?;
        platform.start_background();
        Ok(platform)
    }

    /// Stops claiming, lets runs and attempts finish for the configured grace, gives the rest back and ends the workers.
    pub async fn stop(&self) {
        self.stopping.cancel();
        self.tasks.close();
        let ended = futures::future::join(self.tasks.wait(), self.couriers.ended());
        if tokio::time::timeout(self.config.shutdown_grace, ended)
            .await
            .is_err()
        {
            self.couriers.abandon().await;
            tracing::warn!(
                "runs or attempts were still going on after the shutdown grace; they will be made again"
            );
        }
        self.engine.shutdown().await;
        if let Err(error) = self.write_key_uses().await {
            tracing::warn!(%error, "when keys were last used was not noted");
        }
    }

    /// Leaves the store's file whole. Called once nothing is accepted any more.
    pub async fn close(&self) {
        if let Err(error) = self.store.consolidate().await {
            let error = error.in_full();
            tracing::warn!(
                error,
                "the store's file is whole only together with those beside it"
            );
        }
    }

    /// Whether store and engine answer, and what is accepted gets to disk.
    pub async fn readiness(&self) -> Readiness {
        let reads = self.store.has_users().await.map(drop);
        let works = match reads {
            Ok(()) => self.store.check_writing().await,
            Err(error) => Err(error),
        };
        Readiness {
            store_error: works.err().map(|error| error.in_full()),
            engine: self.engine.status(),
            is_secret_key_fit: self.secret_keys.are_fit(),
            running_sources: self.runners.len(),
        }
    }

    /// The configuration.
    pub fn config(&self) -> &PlatformConfig {
        &self.config
    }

    /// The node's clock and randomness.
    pub fn environment(&self) -> &Environment {
        &self.env
    }
}
