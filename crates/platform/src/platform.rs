//! The platform: services composed, their start and their end. Use cases are its methods, each in a file of `use_cases`.

use std::{sync::Arc, time::Duration};

use headwater_engine::Engine;
use headwater_model::{id::RunnableId, time::EpochMs};
use headwater_store::{Backlog, Conflict, FileStorage, Members, NodeName, Store, StoreError};
use tokio::sync::Semaphore;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    accounts::Accounts,
    aside::Aside,
    changes::Changes,
    chore::Nudges,
    config::PlatformConfig,
    core::Core,
    couriers::Couriers,
    data_stores::DataStores,
    endpoints::Endpoints,
    environment::Environment,
    error::PlatformError,
    feeds::Feeds,
    files::Files,
    key_uses::KeyUses,
    leases::Leases,
    metrics::Metrics,
    props::Props,
    quotas::Quotas,
    rate_limits::RateLimits,
    readiness::Readiness,
    runner::{RunnerContext, Runners},
    secrets::{KeyFile, KeyRing, SecretKeys},
    sends::Sends,
    sign_in_throttle::SignInThrottle,
    signing_key::InstallationKey,
    spans::Tracer,
    turns::Turns,
    workflows::{AccountMasks, OpenedVariables, WaitKey, WorkflowContext, Workflows},
};

/// Parts of searches that are read at once: the store has readers for everybody else besides.
const SEARCHES_MAX: usize = 2;

/// Calls that belong to no source and run at once.
const CALLS_MAX: usize = 16;

/// The parts that a [`Platform`] is put together from.
pub struct Parts {
    /// The name of the node, which stays the same across restarts.
    pub name: NodeName,
    /// The store.
    pub store: Arc<dyn Store>,
    /// The nodes that share the store, unless this one has it for itself.
    pub members: Option<Arc<dyn Members>>,
    /// The engine.
    pub engine: Arc<dyn Engine>,
    /// The place of files.
    pub files: Arc<dyn FileStorage>,
    /// Clock and randomness.
    pub env: Environment,
    /// The keys of everything encrypted.
    pub secret_keys: KeyRing,
    /// The place that keeps them, if the node may change them.
    pub key_file: Option<Arc<dyn KeyFile>>,
    /// The recorder of spans, if there is one.
    pub tracer: Option<Arc<dyn Tracer>>,
    /// The configuration.
    pub config: PlatformConfig,
}

/// The platform. Cheap to share; every use case is a method.
pub struct Platform {
    pub(crate) core: Arc<Core>,
    pub(crate) among: Among,
    pub(crate) secret_keys: Arc<SecretKeys>,
    pub(crate) quotas: Arc<Quotas>,
    pub(crate) rate_limits: RateLimits,
    pub(crate) key_uses: KeyUses,
    pub(crate) sign_in_throttle: SignInThrottle,
    pub(crate) leases: Arc<Leases>,
    pub(crate) endpoints: Arc<Endpoints>,
    pub(crate) accounts: Arc<Accounts>,
    pub(crate) data_stores: Arc<DataStores>,
    pub(crate) props: Arc<Props>,
    pub(crate) feeds: Feeds,
    pub(crate) files: Arc<Files>,
    pub(crate) runners: Runners,
    pub(crate) workflows: Workflows,
    pub(crate) couriers: Couriers,
    pub(crate) sends: Sends,
    /// Turns at deploying, updating and deleting a source or a workflow.
    pub(crate) lifecycles: Turns<RunnableId>,
    /// Turns at changing the variables of a tenant.
    pub(crate) variable_changes: Turns<String>,
    /// Wakes waiters for the end of a connect.
    pub(crate) connect_ended: tokio::sync::Notify,
    /// Held from reading a webhook until it is written, so that changes at the same time keep each other.
    pub(crate) webhook_changes: tokio::sync::Mutex<()>,
    /// Turns for reading a part of a search.
    pub(crate) searches: Semaphore,
    /// Room for calls that belong to no source.
    pub(crate) calls: Semaphore,
}

/// The node among those that share the store.
pub(crate) struct Among {
    pub(crate) name: NodeName,
    /// `None` where the node has the store for itself.
    pub(crate) members: Option<Arc<dyn Members>>,
    pub(crate) started_at_ms: EpochMs,
}

impl Among {
    /// Whether other nodes take over from one that is silent.
    fn has_others(&self) -> bool {
        self.members.is_some()
    }
}

impl Platform {
    /// Registers the node's start and finishes the work that a dead node left undone. Background work
    /// and sources run from then on. `None`: another node has the store.
    ///
    /// # Errors
    /// The store cannot be used.
    pub async fn start(parts: Parts) -> Result<Option<Arc<Self>>, PlatformError> {
        let now_ms = parts.env.now_ms();
        let epoch = match parts.store.start_node(&parts.name, now_ms).await {
            Err(StoreError::Conflict(Conflict::Held { .. })) => return Ok(None),
            epoch => epoch?,
        };
        let secret_keys = Arc::new(SecretKeys::new(parts.secret_keys, parts.key_file));
        let core = Arc::new(Core {
            store: parts.store,
            engine: parts.engine,
            env: parts.env,
            config: parts.config,
            epoch,
            metrics: Metrics::new(),
            tracer: parts.tracer,
            tasks: TaskTracker::new(),
            aside: Aside::default(),
            stopping: CancellationToken::new(),
            replaced: CancellationToken::new(),
            nudges: Nudges::default(),
            changes: Changes::new(now_ms),
        });
        let among = Among {
            name: parts.name,
            members: parts.members,
            started_at_ms: now_ms,
        };
        let begun = Self::begin(Arc::clone(&core), secret_keys, parts.files, among).await;
        if begun.is_err() {
            // Another node need not wait until this life counts as dead.
            give_up(&core).await;
        }
        begun.map(Some)
    }

    async fn begin(
        core: Arc<Core>,
        secret_keys: Arc<SecretKeys>,
        files: Arc<dyn FileStorage>,
        among: Among,
    ) -> Result<Arc<Self>, PlatformError> {
        let key = InstallationKey::load(&core, &secret_keys).await?;
        let files = Arc::new(Files::new(Arc::clone(&core), files, &key));
        let platform = Arc::new(Self::compose(core, secret_keys, files, &key, among)?);
        // It may take long, and others would take over from a node that is silent.
        tokio::select! {
            () = platform.leases.keep_alive() => {}
            ended = platform.end_rotation() => ended?,
        }
        platform.start_background();
        Ok(platform)
    }

    fn compose(
        core: Arc<Core>,
        secret_keys: Arc<SecretKeys>,
        files: Arc<Files>,
        key: &InstallationKey,
        among: Among,
    ) -> Result<Self, PlatformError> {
        let leases = Arc::new(Leases::new(Arc::clone(&core), among.has_others()));
        let quotas = Arc::new(Quotas::new(Arc::clone(&core)));
        let endpoints = Arc::new(Endpoints::new(Arc::clone(&core)));
        let data_stores = Arc::new(DataStores::new(Arc::clone(&core)));
        let accounts = Arc::new(Accounts::new(Arc::clone(&core), Arc::clone(&secret_keys))?);
        let props = Arc::new(Props::new(Arc::clone(&secret_keys), Arc::clone(&accounts)));
        let runners = Runners::new(RunnerContext {
            core: Arc::clone(&core),
            leases: Arc::clone(&leases),
            quotas: Arc::clone(&quotas),
            endpoints: Arc::clone(&endpoints),
            accounts: Arc::clone(&accounts),
            data_stores: Arc::clone(&data_stores),
            props: Arc::clone(&props),
            components: Default::default(),
            residents: Default::default(),
        });
        let wait_key = Arc::new(WaitKey(key.of("waits")));
        let variables = Arc::new(OpenedVariables::new(
            Arc::clone(&core),
            Arc::clone(&secret_keys),
            Arc::clone(&wait_key),
        ));
        let account_masks = Arc::new(AccountMasks::new(
            Arc::clone(&core),
            Arc::clone(&accounts),
            Arc::clone(&wait_key),
        ));
        let workflows = Workflows::new(WorkflowContext {
            core: Arc::clone(&core),
            leases: Arc::clone(&leases),
            data_stores: Arc::clone(&data_stores),
            files: Arc::clone(&files),
            props: Arc::clone(&props),
            deployments: Default::default(),
            responders: Default::default(),
            endings: Default::default(),
            error_mails: Default::default(),
            variables: Arc::clone(&variables),
            account_masks: Arc::clone(&account_masks),
            wait_key,
            residents: Default::default(),
        });
        let sends = Sends::new(Arc::clone(&core), Arc::clone(&variables), account_masks)?;
        Ok(Self {
            rate_limits: RateLimits::new(core.config.rate_limit),
            key_uses: KeyUses::new(Arc::clone(&core)),
            sign_in_throttle: SignInThrottle::default(),
            feeds: Feeds::new(Arc::clone(&core)),
            files,
            runners,
            workflows,
            couriers: Couriers::new(Arc::clone(&core), Arc::clone(&secret_keys))?,
            sends,
            lifecycles: Turns::default(),
            variable_changes: Turns::default(),
            connect_ended: tokio::sync::Notify::new(),
            webhook_changes: tokio::sync::Mutex::default(),
            searches: Semaphore::new(SEARCHES_MAX),
            calls: Semaphore::new(CALLS_MAX),
            core,
            among,
            secret_keys,
            leases,
            quotas,
            endpoints,
            accounts,
            data_stores,
            props,
        })
    }

    /// Stops claiming, lets runs and attempts finish for the configured grace, gives the rest back and ends the workers.
    pub async fn stop(&self) {
        self.end(self.core.config.shutdown_grace).await;
        self.give_up().await;
    }

    /// The first part of [`Platform::stop`]: ends the work within that grace, and keeps others from it.
    pub async fn end(&self, grace: Duration) {
        // Until the last commit: others would take over from a node that is silent.
        tokio::select! {
            () = self.leases.keep_alive() => {}
            () = self.leases.lost() => self.abandon().await,
            () = self.end_work(grace) => {}
        }
    }

    /// The last part of [`Platform::stop`]: lets others have the work. Nothing may be in progress any more.
    pub async fn give_up(&self) {
        give_up(&self.core).await;
    }

    async fn end_work(&self, grace: Duration) {
        let core = &self.core;
        core.stopping.cancel();
        core.tasks.close();
        let ended = futures::future::join(core.tasks.wait(), self.couriers.ended());
        if tokio::time::timeout(grace, ended).await.is_err() {
            self.couriers.abandon().await;
            tracing::warn!(
                "runs or attempts were still in progress after the shutdown grace; they will be repeated"
            );
        }
        core.engine.shutdown().await;
        if let Err(error) = self.key_uses.write().await {
            tracing::warn!(%error, "cannot record the last use of keys");
        }
    }

    /// Waits until another node has taken this one's place, because it was silent for so long that it counted as dead.
    /// Nothing that it does then is kept.
    pub async fn replaced(&self) {
        self.leases.lost().await;
    }

    /// Ends all work at once, of a node whose place another one has taken.
    pub async fn abandon(&self) {
        let core = &self.core;
        core.stopping.cancel();
        core.replaced.cancel();
        core.tasks.close();
        tokio::join!(self.couriers.abandon(), core.engine.shutdown());
    }

    /// Carries an act to its end and its record, even if whoever asked for it goes away: what is left of a request is
    /// dropped then. Once another node has taken this one's place, the act is left where it is, and never answers.
    pub async fn carry_out<T: Send + 'static>(
        &self,
        act: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let act = crate::origin::on_behalf_of(crate::origin::origin(), act);
        let act = self.core.replaced.clone().run_until_cancelled_owned(act);
        match self.core.tasks.spawn(act).await {
            Ok(Some(done)) => done,
            Ok(None) => std::future::pending().await,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                // The runtime ends, and this with it.
                Err(_) => std::future::pending().await,
            },
        }
    }

    /// Leaves the store's file whole. Called once nothing is accepted any more.
    pub async fn close(&self) {
        if let Err(error) = self.core.store.consolidate().await {
            let error = error.in_full();
            tracing::warn!(
                error,
                "the store's main file is complete only together with the -wal file beside it"
            );
        }
    }

    /// Whether the node shares the store with others, or may.
    pub fn is_of_cluster(&self) -> bool {
        self.among.members.is_some()
    }

    /// Whether store and engine answer, and accepted work can be written to disk.
    pub async fn readiness(&self) -> Readiness {
        let store = &self.core.store;
        let works = match store.has_users().await {
            Ok(_) => store.check_writing().await,
            Err(error) => Err(error),
        };
        Readiness {
            store_error: works.err().map(|error| error.in_full()),
            code_error: self
                .core
                .engine
                .check_writing()
                .await
                .err()
                .map(|error| error.to_string()),
            engine: self.core.engine.status(),
            is_secret_key_fit: self.secret_keys.are_fit(),
            running_sources: self.runners.len(),
        }
    }

    /// The number of runs that workers have at present.
    pub fn runs_under_way(&self) -> usize {
        self.core.engine.status().runs
    }

    /// The work that waits in the store, as far as the store says it.
    pub async fn work_left(&self) -> Backlog {
        let now_ms = self.core.env.now_ms();
        self.core.store.backlog(now_ms).await.unwrap_or_default()
    }

    /// The configuration.
    pub fn config(&self) -> &PlatformConfig {
        &self.core.config
    }

    /// The node's clock and randomness.
    pub fn environment(&self) -> &Environment {
        &self.core.env
    }

    /// The files of owners.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Begins a span, recorded if the node has a tracer.
    pub fn begin_span(&self, span: crate::spans::NewSpan<'_>) -> crate::spans::Span {
        self.core.begin_span(span)
    }

    /// Says that a webhook's record was changed past the platform, as tests do.
    #[doc(hidden)]
    pub fn webhook_changed(&self, id: &headwater_model::id::WebhookId) {
        self.couriers.webhook_changed(id);
    }

    /// Says that deliveries may have become due, as tests do that set the clock.
    #[doc(hidden)]
    pub fn nudge_deliveries(&self) {
        self.core.nudges.nudge(crate::chore::Chore::Deliveries);
    }

    /// Says that a run of a workflow may have become due, as tests of workflows do that set the clock.
    #[doc(hidden)]
    pub fn workflow_is_due(&self, id: &headwater_model::id::WorkflowId) {
        self.workflows.wake(id);
    }
}

/// Ends the node's life.
async fn give_up(core: &Core) {
    if let Err(error) = core.store.stop_node(core.epoch).await {
        tracing::warn!(%error, "cannot give the node's work back; other nodes wait until this one counts as dead");
    }
}
