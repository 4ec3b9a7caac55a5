//! A platform to test: over a store in memory, the scripted engine, a clock and randomness
//! that the test holds, and short ways to ask it things.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};
use std::time::Duration;

use headwater_model::{
    app::AppCatalog,
    endpoint::EndpointToken,
    event::Event,
    id::{RunnableId, SourceId},
    limits::RunLimits,
    page::PageRequest,
    time::EpochMs,
};
use headwater_platform::{
    Caller, Clock, Delivery, DeliveryConfig, DeploySource, Environment, EventsQuery,
    FirstUserOptions, Ingress, IngressRequest, KeyRing, Parts, Plan, PlanView, Platform,
    PlatformConfig, PlatformError, Random, ResultLimits, RunReport, SourceView, Tracer,
    TrustedProxies, UpdateSource, default_channels,
};
use headwater_store::{NodeEpoch, NodeName, RunnableLease, SourceState, Store, Usage};
use headwater_store_sqlite::SqliteStore;
use serde_json::{Map, Value, json};
use tokio::task::JoinHandle;

use crate::{
    component::Component,
    engine::{FakeEngine, PATIENCE, Run},
    files::MemoryFiles,
};

/// When the tests begin: a moment in 2023.
pub(crate) const T0: EpochMs = EpochMs(1_700_000_000_000);

/// The moment so many milliseconds after [`T0`].
pub(crate) fn after(by_ms: u64) -> EpochMs {
    T0 + Duration::from_millis(by_ms)
}

/// A URL that nothing answers at.
pub(crate) const NOWHERE: &str = "https://receiver.invalid/events";

pub(crate) struct TestClock(AtomicU64);

impl TestClock {
    pub(crate) fn advance(&self, by_ms: u64) {
        self.0.fetch_add(by_ms, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now_ms(&self) -> EpochMs {
        EpochMs(self.0.load(Ordering::SeqCst))
    }
}

/// Bits that never repeat, whichever app asks.
struct Counting;

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        static COUNT: AtomicU64 = AtomicU64::new(1);
        for chunk in bytes.chunks_mut(8) {
            let next = COUNT.fetch_add(1, Ordering::Relaxed);
            let bits = next.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes();
            chunk.copy_from_slice(&bits[..chunk.len()]);
        }
    }
}

pub(crate) struct World {
    pub(crate) platform: Arc<Platform>,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) engine: Arc<FakeEngine>,
    pub(crate) clock: Arc<TestClock>,
    pub(crate) caller: Caller,
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open_in_memory().unwrap())
}

/// The same, with the hand that takes its disk away.
pub(crate) fn with_faults() -> (Arc<dyn Store>, Arc<SqliteStore>) {
    let store = Arc::new(SqliteStore::open_in_memory().unwrap());
    (Arc::clone(&store) as Arc<dyn Store>, store)
}

/// A node's life: what still goes on when the future ends dies with its runtime, as with `kill -9`.
pub(crate) fn life<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(future)
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(|_| {}).await
    }

    pub(crate) async fn with(configure: impl FnOnce(&mut PlatformConfig)) -> Self {
        Self::start(memory(), configure).await
    }

    /// Another start of the node, on the store that a former one has left.
    pub(crate) async fn on(store: &Arc<dyn Store>) -> Self {
        Self::start(Arc::clone(store), |_| {}).await
    }

    /// The same, so long after the first: what happened before has its time already when the node looks at it.
    pub(crate) async fn on_after(store: &Arc<dyn Store>, time: Duration) -> Self {
        let (store, engine) = (Arc::clone(store), FakeEngine::new());
        Self::begun(store, engine, None, (T0 + time, |_| {})).await
    }

    pub(crate) async fn start(
        store: Arc<dyn Store>,
        configure: impl FnOnce(&mut PlatformConfig),
    ) -> Self {
        Self::start_with(store, FakeEngine::new(), configure).await
    }

    /// A start with an engine that has its scripts already.
    pub(crate) async fn start_with(
        store: Arc<dyn Store>,
        engine: Arc<FakeEngine>,
        configure: impl FnOnce(&mut PlatformConfig),
    ) -> Self {
        Self::traced(store, engine, None, configure).await
    }

    /// A start with somebody who records spans.
    pub(crate) async fn traced(
        store: Arc<dyn Store>,
        engine: Arc<FakeEngine>,
        tracer: Option<Arc<dyn Tracer>>,
        configure: impl FnOnce(&mut PlatformConfig),
    ) -> Self {
        Self::begun(store, engine, tracer, (T0, configure)).await
    }

    async fn begun(
        store: Arc<dyn Store>,
        engine: Arc<FakeEngine>,
        tracer: Option<Arc<dyn Tracer>>,
        (at, configure): (EpochMs, impl FnOnce(&mut PlatformConfig)),
    ) -> Self {
        let clock = Arc::new(TestClock(AtomicU64::new(at.0)));
        let mut config = PlatformConfig {
            settings: Vec::new(),
            public_url: "https://node.example".to_owned(),
            endpoint_domain: None,
            mail_host: "node.example".to_owned(),
            takes_mail: true,
            source_concurrency: 16,
            retained_events: 100,
            retained_runs: 100,
            retained_failed_runs: 100,
            retained_audit_days: 90,
            shutdown_grace: Duration::from_secs(20),
            deliveries: DeliveryConfig::default(),
            mail: None,
            s3: None,
            apps: AppCatalog::default(),
            apps_folder: "/srv/headwater/apps".into(),
            plan: Plan::Free,
            daily_invocations_quota: None,
            rate_limit: None,
            trusted_proxies: TrustedProxies::default(),
            workflow_memory_max_mib: 1024,
            workflow_results: ResultLimits::default(),
            run_limits: RunLimits::default(),
            file_bytes_per_owner: 1_000_000,
            queued_events_per_owner: u32::MAX,
        };
        configure(&mut config);
        let platform = Platform::start(Parts {
            name: NodeName::new("node"),
            store: Arc::clone(&store),
            engine: Arc::clone(&engine) as Arc<dyn headwater_engine::Engine>,
            env: Environment {
                clock: Arc::clone(&clock) as Arc<dyn Clock>,
                random: Arc::new(Counting),
            },
            files: Arc::new(MemoryFiles::default()),
            secret_keys: KeyRing::first([7; 32]),
            key_file: None,
            members: None,
            tracer,
            config,
        })
        .await
        .unwrap()
        .expect("no other node has the store");
        let first = FirstUserOptions {
            api_key: "key".to_owned(),
            username: "me".to_owned(),
            email: "me@example.com".to_owned(),
        };
        platform.create_first_user(first).await.unwrap();
        let caller = platform.authenticate("key").await.unwrap();
        Self {
            platform,
            store,
            engine,
            clock,
            caller,
        }
    }

    /// Somebody else, who is a member of nothing.
    pub(crate) async fn stranger(&self) -> Caller {
        self.user("stranger").await
    }

    /// Another user of the node.
    pub(crate) async fn user(&self, username: &str) -> Caller {
        let email = format!("{username}@example.com");
        let made = self
            .platform
            .create_user(&self.caller, username.to_owned(), email);
        let api_key = made.await.unwrap().api_key;
        self.platform.authenticate(&api_key).await.unwrap()
    }

    /// The caller as a new request finds it.
    pub(crate) async fn again(&self, caller: &Caller) -> Caller {
        let found = self
            .store
            .identity(&caller.identity.key.hash)
            .await
            .unwrap();
        Caller::with_key(found.unwrap())
    }

    pub(crate) async fn try_deploy(
        &self,
        component: &Component,
        configured_props: Value,
    ) -> Result<SourceView, PlatformError> {
        self.platform
            .deploy_source(&self.caller, deployment(component, configured_props))
            .await
    }

    pub(crate) async fn deploy(&self, component: &Component) -> SourceId {
        let deployed = self.try_deploy(component, json!({})).await.unwrap();
        deployed.source.id
    }

    /// A deployment that goes on while the test does something else.
    pub(crate) fn deploying(
        &self,
        component: &Component,
    ) -> JoinHandle<Result<SourceView, PlatformError>> {
        let (platform, caller) = (Arc::clone(&self.platform), self.caller.clone());
        let request = deployment(component, json!({}));
        tokio::spawn(async move { platform.deploy_source(&caller, request).await })
    }

    pub(crate) async fn update(
        &self,
        id: &SourceId,
        request: UpdateSource,
    ) -> Result<SourceView, PlatformError> {
        self.platform.update_source(&self.caller, id, request).await
    }

    /// An update that goes on while the test does something else.
    pub(crate) fn updating(
        &self,
        id: &SourceId,
        request: UpdateSource,
    ) -> JoinHandle<Result<SourceView, PlatformError>> {
        let (platform, caller, id) = (Arc::clone(&self.platform), self.caller.clone(), id.clone());
        tokio::spawn(async move { platform.update_source(&caller, &id, request).await })
    }

    pub(crate) async fn set_active(&self, id: &SourceId, active: bool) {
        self.update(id, switched(active)).await.unwrap();
    }

    pub(crate) async fn delete(&self, id: &SourceId) -> Result<(), PlatformError> {
        self.platform.delete_source(&self.caller, id).await
    }

    pub(crate) async fn state(&self, id: &SourceId) -> Option<SourceState> {
        let source = self.store.source(id).await.unwrap();
        source.map(|source| source.state)
    }

    pub(crate) async fn token(&self, id: &SourceId) -> EndpointToken {
        let source = self.store.source(id).await.unwrap().unwrap();
        source.spec.endpoints[0].token.clone()
    }

    pub(crate) async fn request(
        &self,
        token: &EndpointToken,
        event: Value,
    ) -> Result<Ingress, PlatformError> {
        self.platform.ingress(request(token, &event)).await
    }

    /// A request that waits while the test does something else.
    pub(crate) fn requesting(
        &self,
        token: &EndpointToken,
        event: Value,
    ) -> JoinHandle<Result<Ingress, PlatformError>> {
        let platform = Arc::clone(&self.platform);
        let request = request(token, &event);
        tokio::spawn(async move { platform.ingress(request).await })
    }

    /// Starts a run by hand and hands it to the test, with its report to come.
    pub(crate) async fn manual(
        &self,
        id: &SourceId,
        event: Value,
    ) -> (Run, JoinHandle<Result<RunReport, PlatformError>>) {
        let report = self.running(id, event);
        (self.engine.next().await, report)
    }

    /// Starts a run by hand, which need not begin at once.
    pub(crate) fn running(
        &self,
        id: &SourceId,
        event: Value,
    ) -> JoinHandle<Result<RunReport, PlatformError>> {
        let (platform, caller, id) = (Arc::clone(&self.platform), self.caller.clone(), id.clone());
        tokio::spawn(async move { platform.run_source(&caller, &id, Some(event)).await })
    }

    /// Returns when everything that ended before is committed: commits of a source are in order, and
    /// a manual run is reported once it is committed. Nudges dispatch and release.
    pub(crate) async fn barrier(&self, id: &SourceId) {
        let event = Some(json!({ "$barrier": true }));
        let report = self.platform.run_source(&self.caller, id, event);
        tokio::time::timeout(PATIENCE, report)
            .await
            .expect("the source runs")
            .unwrap();
    }

    /// Lets timers and dispatch look again, as any deployment does.
    pub(crate) async fn nudge(&self) {
        self.deploy(&Component::named("nudge")).await;
    }

    pub(crate) async fn subscribe(&self, emitter: &SourceId, listener: &SourceId, channel: &str) {
        self.platform
            .subscribe(&self.caller, emitter.as_str(), listener.as_str(), channel)
            .await
            .unwrap();
    }

    /// A delivery to a webhook of the caller at which nothing answers, as dispatch has made it.
    pub(crate) async fn delivery(&self) -> Delivery {
        let (source, webhook) = self.delivering_to(NOWHERE).await;
        self.emit(&source, [json!("hello")]).await;
        // Harmless if the node's own dispatch was faster.
        self.store
            .dispatch(self.clock.now_ms(), 100, u32::MAX)
            .await
            .unwrap();
        self.deliveries(&webhook).await.remove(0)
    }

    /// The events of a channel as the log has them, oldest first.
    pub(crate) async fn log(&self, id: &SourceId, event_name: Option<&str>) -> Vec<Event> {
        let query = EventsQuery {
            channels: default_channels(event_name),
            page: PageRequest::first(100),
        };
        let page = self.platform.source_events(&self.caller, id, &query).await;
        let mut events = page.unwrap().items;
        events.reverse();
        events
    }

    /// What was emitted on ordinary channels, oldest first.
    pub(crate) async fn emitted(&self, id: &SourceId) -> Vec<Value> {
        data(&self.log(id, None).await)
    }

    pub(crate) async fn errors(&self, id: &SourceId) -> Vec<Value> {
        data(&self.log(id, Some("$errors")).await)
    }

    pub(crate) async fn key_values(&self, id: &SourceId) -> Value {
        Value::Object(self.store.key_values(&id.clone().into()).await.unwrap())
    }

    /// The lease that the node holds; it is the only start of its store.
    pub(crate) async fn lease(&self, id: &SourceId) -> RunnableLease {
        let runnable = id.clone().into();
        let lease = self.store.lease_runnable(&runnable, NodeEpoch(1), T0);
        lease.await.unwrap()
    }

    /// Sources of whose invocations the node may claim some at that time.
    pub(crate) async fn with_work(&self, now_ms: EpochMs) -> Vec<RunnableId> {
        let found = self
            .store
            .runnables_with_work(NodeEpoch(1), now_ms, None, 10);
        found.await.unwrap()
    }

    pub(crate) async fn invocations_used(&self) -> u64 {
        self.usage(&self.caller).await.invocations
    }

    /// What a user is shown as its usage of today.
    pub(crate) async fn usage(&self, caller: &Caller) -> Usage {
        match self.platform.me(caller).await.unwrap().plan {
            PlanView::Free { usage, .. } => usage,
            paid @ PlanView::Paid { .. } => panic!("{paid:?}"),
        }
    }
}

/// A test must not leave runs that it has not looked at.
impl Drop for World {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.engine.nothing_started(), "a run was not looked at");
        }
    }
}

/// What a task comes to that the test started.
pub(crate) async fn done<T>(task: JoinHandle<T>) -> T {
    let done = tokio::time::timeout(PATIENCE, task).await;
    done.expect("it comes to an end").unwrap()
}

pub(crate) fn deployment(component: &Component, configured_props: Value) -> DeploySource {
    DeploySource {
        component: code(component),
        configured_props: object(configured_props),
        ..DeploySource::default()
    }
}

pub(crate) fn code(component: &Component) -> headwater_platform::ComponentInput {
    headwater_platform::ComponentInput {
        component_code: Some(component.code()),
        ..Default::default()
    }
}

/// `PUT` with `active`.
pub(crate) fn switched(active: bool) -> UpdateSource {
    UpdateSource {
        active: Some(active),
        ..UpdateSource::default()
    }
}

/// `PUT` with other code.
pub(crate) fn replaced(component: &Component) -> UpdateSource {
    UpdateSource {
        component: code(component),
        ..UpdateSource::default()
    }
}

/// `PUT` with other props.
pub(crate) fn configured(props: Value) -> UpdateSource {
    UpdateSource {
        configured_props: Some(object(props)),
        ..UpdateSource::default()
    }
}

pub(crate) fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("{other} is no object"),
    }
}

fn request(token: &EndpointToken, event: &Value) -> IngressRequest {
    IngressRequest {
        token: token.clone(),
        event: serde_json::value::to_raw_value(event).unwrap(),
        uploads: Vec::new(),
    }
}

/// The token in the `endpoint` that a run sees as its prop `http`.
pub(crate) fn token_seen(run: &Run) -> EndpointToken {
    let url = run.props["http"]["endpoint"].as_str().unwrap();
    EndpointToken::new(url.rsplit('/').next().unwrap())
}

pub(crate) fn data(events: &[Event]) -> Vec<Value> {
    events
        .iter()
        .map(|event| serde_json::from_str(event.event.get()).unwrap())
        .collect()
}
