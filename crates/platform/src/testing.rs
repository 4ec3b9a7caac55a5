//! Time, randomness and a node's ground floor for this crate's unit tests.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
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
    limits::RunLimits,
    origin::Origin,
    package::PackageReference,
    time::EpochMs,
};
use headwater_store::{
    ApiKey, Claimed, Deployment, NewInvocation, NodeName, Owner, RunnableLease, Store, Trigger,
    User, WorkLimit, WorkflowDeploy,
};
use headwater_store_sqlite::SqliteStore;
use serde_json::{Value, value::to_raw_value};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    aside::Aside,
    changes::Changes,
    chore::Nudges,
    config::{DeliveryConfig, Plan, PlatformConfig, ResultLimits},
    core::Core,
    environment::{Clock, Environment, Random},
    metrics::Metrics,
    proxies::TrustedProxies,
};

/// 2023-11-14 22:13:20 UTC.
pub(crate) const T0: EpochMs = EpochMs(1_700_000_000_000);

struct StillClock;

impl Clock for StillClock {
    fn now_ms(&self) -> EpochMs {
        T0
    }
}

#[derive(Default)]
struct Counting(AtomicU64);

impl Random for Counting {
    fn fill(&self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let next = self
                .0
                .fetch_add(1, Ordering::Relaxed)
                .wrapping_mul(0x9E37_79B9_7F4A_7C15);
            chunk.copy_from_slice(&next.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// A clock that stands still and bits that never repeat.
pub(crate) fn environment() -> Environment {
    Environment {
        clock: Arc::new(StillClock),
        random: Arc::new(Counting::default()),
    }
}

/// A clock that the test moves, in epoch milliseconds.
pub(crate) struct HandClock(pub(crate) AtomicU64);

impl Clock for HandClock {
    fn now_ms(&self) -> EpochMs {
        EpochMs(self.0.load(Ordering::SeqCst))
    }
}

pub(crate) fn memory() -> Arc<dyn Store> {
    Arc::new(SqliteStore::open_in_memory().unwrap())
}

/// A configuration that lets requests reach servers of the test.
pub(crate) fn config() -> PlatformConfig {
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
        retained_audit_days: 90,
        queued_events_per_owner: u32::MAX,
        shutdown_grace: Duration::from_secs(20),
        deliveries: DeliveryConfig {
            network: NetworkPolicy::All,
            ..DeliveryConfig::default()
        },
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
        file_bytes_per_owner: 0,
    }
}

/// The ground floor of a node that starts on that store.
pub(crate) async fn core(
    store: Arc<dyn Store>,
    engine: Arc<dyn Engine>,
    config: PlatformConfig,
    clock: Arc<HandClock>,
) -> Arc<Core> {
    let name = NodeName::new("node");
    let epoch = store.start_node(&name, clock.now_ms()).await.unwrap();
    Arc::new(Core {
        epoch,
        store,
        engine,
        env: Environment {
            clock,
            ..environment()
        },
        config,
        metrics: Metrics::new(),
        tracer: None,
        tasks: TaskTracker::new(),
        aside: Aside::default(),
        stopping: CancellationToken::new(),
        replaced: CancellationToken::new(),
        nudges: Nudges::default(),
        changes: Changes::new(EpochMs(0)),
    })
}

/// A workflow of a new user, whose deployment has this content.
pub(crate) async fn workflow(core: &Core, email: &str, content: Value) -> WorkflowId {
    let (store, env) = (&core.store, &core.env);
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
        content: to_raw_value(&content).unwrap(),
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
    id
}

/// Queues a run of a workflow by hand.
pub(crate) async fn queue_run(core: &Core, id: &WorkflowId) -> InvocationId {
    let queued = new_run(core, id);
    let run = queued.id.clone();
    core.store.enqueue(queued, None).await.unwrap();
    run
}

/// Queues a run of a workflow, leased at once.
pub(crate) async fn queue_leased(core: &Core, lease: RunnableLease, id: &WorkflowId) -> Claimed {
    let queued = new_run(core, id);
    let lease = Some((lease, core.lease_term()));
    let leased = core.store.enqueue(queued.clone(), lease).await.unwrap();
    Claimed::at_once(queued, leased.expect("the lease is the current one"))
}

fn new_run(core: &Core, id: &WorkflowId) -> NewInvocation {
    NewInvocation {
        id: core.env.id(InvocationId::new),
        runnable: id.clone().into(),
        trigger: Trigger::Manual,
        via: None,
        event: to_raw_value(&serde_json::json!({})).unwrap().into(),
        hops: 0,
        now_ms: T0,
        due_at_ms: EpochMs(0),
        state: None,
        origin: Origin::default(),
    }
}

/// Claims the run of a workflow that is due.
pub(crate) async fn claim_run(core: &Core, id: &WorkflowId) -> (RunnableLease, Claimed) {
    let runnable = id.clone().into();
    let now_ms = core.env.now_ms();
    let lease = core.store.lease_runnable(&runnable, core.epoch, now_ms);
    let lease = lease.await.unwrap();
    let claimed = core
        .store
        .claim(&lease, core.lease_term(), now_ms, WorkLimit::of(1));
    let claimed = claimed.await.unwrap().remove(0);
    (lease, claimed)
}

/// An engine for what needs none.
pub(crate) struct NoEngine;

#[async_trait]
impl Engine for NoEngine {
    async fn build(&self, _: BuildRequest) -> Result<Result<Build, Rejection>, EngineError> {
        unreachable!("nothing is built")
    }

    async fn package_modules(
        &self,
        _: &PackageReference,
        _: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        unreachable!("no package is looked into")
    }

    async fn invoke(&self, _: &WorkerSpec, _: Invocation, _: RunSink) -> Result<(), EngineError> {
        unreachable!("nothing runs")
    }

    async fn forget_tmp(&self, _: &WorkerOwner, _: &str) {}

    async fn evict(&self, _: &WorkerOwner) {}

    fn status(&self) -> EngineStatus {
        EngineStatus::default()
    }

    async fn shutdown(&self) {}
}
