//! A node's sends without the rest of the node, and short ways to queue some and look at them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use headwater_engine::{
    Build, BuildRequest, Engine, EngineError, EngineStatus, Invocation, PackageModules, Rejection,
    RunSink, WorkerOwner, WorkerSpec, network::NetworkPolicy,
};
use headwater_model::{
    app::AppCatalog,
    hash::SecretHash,
    id::{DeploymentId, InvocationId, KeyId, UserId, WorkflowId},
    origin::Origin,
    package::PackageReference,
    time::EpochMs,
};
use headwater_store::{
    AfterRun, ApiKey, Claimed, Deployment, InvocationEnd, NewInvocation, NewSend, NodeName, Owner,
    Progress, RunCommit, RunProgress, RunnableLease, SendId, SendRecord, SendState, SendWay, Store,
    Trigger, Usage, User, WorkLimit, WorkflowDeploy,
};
use headwater_store_sqlite::SqliteStore;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::super::Sends;
use crate::{
    accounts::Accounts,
    changes::Changes,
    chore::Nudges,
    config::{DeliveryConfig, Plan, PlatformConfig},
    core::Core,
    environment::{Clock, Environment},
    metrics::Metrics,
    proxies::TrustedProxies,
    secrets::{KeyRing, SecretKeys},
    signing_key::SigningKey,
    testing::environment,
    workflows::{AccountMasks, OpenedVariables, WaitKey},
};

/// A test that waits longer has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// 2023-11-14 22:13:20 UTC.
pub(super) const T0: EpochMs = EpochMs(1_700_000_000_000);

pub(super) struct HandClock(AtomicU64);

impl Clock for HandClock {
    fn now_ms(&self) -> EpochMs {
        EpochMs(self.0.load(Ordering::SeqCst))
    }
}

/// The sends of a node, with a run of a workflow whose steps queue some.
pub(super) struct Bench {
    pub(super) core: Arc<Core>,
    pub(super) sends: Sends,
    clock: Arc<HandClock>,
    run: Option<(RunnableLease, Claimed)>,
    number: AtomicU32,
}

pub(super) fn memory() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open_in_memory().unwrap())
}

/// A configuration that lets requests reach servers of the test.
pub(super) fn config() -> PlatformConfig {
    PlatformConfig {
        settings: Vec::new(),
        public_url: "https://node.example".to_owned(),
        endpoint_domain: None,
        mail_host: "node.example".to_owned(),
        takes_mail: true,
        source_concurrency: 16,
        retained_events: 100,
        retained_runs: 100,
        retained_failed_runs: 100,
        queued_events_per_owner: u32::MAX,
        shutdown_grace: Duration::from_secs(20),
        deliveries: DeliveryConfig {
            network: NetworkPolicy::All,
            ..DeliveryConfig::default()
        },
        mail: None,
        s3: None,
        apps: AppCatalog::default(),
        plan: Plan::Free,
        daily_invocations_quota: None,
        rate_limit: None,
        trusted_proxies: TrustedProxies::default(),
        workflow_memory_max_mib: 1024,
        file_bytes_per_owner: 0,
    }
}

impl Bench {
    pub(super) async fn new() -> Self {
        Self::with(config(), "ada@example.com").await
    }

    /// A node with a user of that address who owns the workflow.
    pub(super) async fn with(config: PlatformConfig, email: &str) -> Self {
        let mut bench = Self::start(memory(), config, T0).await;
        bench.run = Some(bench.begin_run(email).await);
        bench
    }

    /// A start of a node on a store.
    pub(super) async fn start(
        store: Arc<dyn Store>,
        config: PlatformConfig,
        now_ms: EpochMs,
    ) -> Self {
        let clock = Arc::new(HandClock(AtomicU64::new(now_ms.0)));
        let epoch = store
            .start_node(&NodeName::new("node"), now_ms)
            .await
            .unwrap();
        let core = Arc::new(Core {
            store,
            engine: Arc::new(NoEngine),
            env: Environment {
                clock: Arc::clone(&clock) as Arc<dyn Clock>,
                ..environment()
            },
            config,
            epoch,
            metrics: Metrics::new(),
            tracer: None,
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
            nudges: Nudges::default(),
            changes: Changes::new(EpochMs(0)),
        });
        let keys = SecretKeys::new(KeyRing::first([7; 32]), None);
        let (keys, wait_key) = (Arc::new(keys), Arc::new(WaitKey(SigningKey([7; 64]))));
        let variables =
            OpenedVariables::new(Arc::clone(&core), Arc::clone(&keys), Arc::clone(&wait_key));
        let accounts = Arc::new(Accounts::new(Arc::clone(&core), keys).unwrap());
        let account_masks = AccountMasks::new(Arc::clone(&core), accounts, wait_key);
        Self {
            sends: Sends::new(
                Arc::clone(&core),
                Arc::new(variables),
                Arc::new(account_masks),
            )
            .unwrap(),
            core,
            clock,
            run: None,
            number: AtomicU32::new(0),
        }
    }

    async fn begin_run(&self, email: &str) -> (RunnableLease, Claimed) {
        let (store, env) = (&self.core.store, &self.core.env);
        let user = User {
            id: env.id(UserId::new),
            username: "me".to_owned(),
            email: email.to_owned(),
            is_admin: true,
            created_at: T0.to_seconds(),
        };
        let key = ApiKey {
            id: env.id(KeyId::new),
            user_id: user.id.clone(),
            name: "first".to_owned(),
            hash: SecretHash::new("hash of a key"),
            created_at: T0.to_seconds(),
            last_used_at: None,
        };
        let owner = Owner {
            user_id: user.id.clone(),
            workspace_id: None,
        };
        store.create_user(user, key).await.unwrap();
        let id = env.id(WorkflowId::new);
        let deployment = Deployment {
            id: env.id(DeploymentId::new),
            workflow_id: id.clone(),
            content: json_text(json!({"files": {}})),
            created_at_ms: T0,
        };
        let deploy = WorkflowDeploy {
            deployment,
            owner,
            name: "Orders".to_owned(),
            slug: "orders".to_owned(),
            is_active: true,
            endpoints: Vec::new(),
            timers: Vec::new(),
            feeds: Vec::new(),
            bounds: Default::default(),
        };
        store.deploy_workflow(deploy).await.unwrap();
        let queued = NewInvocation {
            id: env.id(InvocationId::new),
            runnable: id.clone().into(),
            trigger: Trigger::Manual,
            via: None,
            event: json_text(json!({})).into(),
            hops: 0,
            now_ms: T0,
            due_at_ms: EpochMs(0),
            state: None,
            origin: Origin::default(),
        };
        store.enqueue(queued, None).await.unwrap();
        let runnable = id.into();
        let lease = store.lease_runnable(&runnable, self.core.epoch, T0);
        let lease = lease.await.unwrap();
        let claimed = store.claim(&lease, self.core.lease_term(), T0, WorkLimit::of(1));
        let claimed = claimed.await.unwrap().remove(0);
        (lease, claimed)
    }

    /// Queues a send with the commit of a step.
    pub(super) async fn queue(&self, way: SendWay, value: Value) -> SendId {
        let (lease, run) = self.run.as_ref().expect("a run has begun");
        let number = self.number.fetch_add(1, Ordering::Relaxed);
        let id = SendId {
            run_id: run.lease.invocation_id.clone(),
            path: "notify".to_owned(),
            number,
        };
        let send = NewSend {
            path: id.path.clone(),
            number,
            way,
            lane: value["url"].as_str().map(str::to_owned),
            value: json_text(value),
        };
        let commit = RunCommit {
            lease: lease.clone(),
            run_id: id.run_id.clone(),
            invocation: Some(InvocationEnd {
                lease: run.lease.clone(),
                then: AfterRun::GoesOn {
                    state: json_text(json!({})),
                },
            }),
            events: Vec::new(),
            dedupe: None,
            kv_writes: Vec::new(),
            usage: Usage::default(),
            progress: Some(RunProgress {
                sends: vec![send],
                ..RunProgress::default()
            }),
            ended: None,
            unrecorded: 0,
            now_ms: self.core.env.now_ms(),
        };
        let committed = self.core.store.commit_runs([commit].into()).await;
        committed.into_iter().for_each(|each| each.unwrap());
        id
    }

    pub(super) async fn step(&self) -> Progress {
        self.sends.step().await.unwrap()
    }

    pub(super) fn pass(&self, span: Duration) {
        let ms = u64::try_from(span.as_millis()).unwrap();
        self.clock.0.fetch_add(ms, Ordering::SeqCst);
    }

    /// Waits until no attempt is in flight.
    pub(super) async fn settled(&self) {
        self.core.tasks.close();
        let ended = tokio::time::timeout(PATIENCE, self.core.tasks.wait()).await;
        ended.expect("the attempts come to an end");
        self.core.tasks.reopen();
    }

    /// A step, and the end of the attempts that it started.
    pub(super) async fn attempt(&self) {
        self.step().await;
        self.settled().await;
    }

    pub(super) async fn record(&self, id: &SendId) -> SendRecord {
        let sends = self.core.store.run_sends(&id.run_id).await.unwrap();
        let record = sends.into_iter().find(|send| send.id == *id);
        record.expect("a send stays with its run")
    }

    pub(super) async fn state(&self, id: &SendId) -> SendState {
        self.record(id).await.state
    }

    /// The result of the last attempt.
    pub(super) async fn result(&self, id: &SendId) -> Value {
        let result = self.record(id).await.result.expect("an attempt has ended");
        serde_json::from_str(result.get()).unwrap()
    }

    /// When it is due again, after its last attempt.
    pub(super) async fn wait_ms(&self, id: &SendId) -> u64 {
        let retry_at_ms = self.result(id).await["retry_at_ms"].as_u64().unwrap();
        retry_at_ms - self.core.env.now_ms().0
    }
}

fn json_text(value: Value) -> Box<RawValue> {
    to_raw_value(&value).unwrap()
}

/// Sends need no engine.
struct NoEngine;

#[async_trait]
impl Engine for NoEngine {
    async fn build(&self, _: BuildRequest) -> Result<Result<Build, Rejection>, EngineError> {
        unreachable!("sends build nothing")
    }

    async fn package_modules(
        &self,
        _: &PackageReference,
        _: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        unreachable!("sends look into no package")
    }

    async fn invoke(&self, _: &WorkerSpec, _: Invocation, _: RunSink) -> Result<(), EngineError> {
        unreachable!("sends run nothing")
    }

    async fn forget_tmp(&self, _: &WorkerOwner, _: &str) {}

    async fn evict(&self, _: &WorkerOwner) {}

    fn status(&self) -> EngineStatus {
        EngineStatus::default()
    }

    async fn shutdown(&self) {}
}
