//! A node's sends without the rest of the node, and short ways to queue some and look at them.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, AtomicU64, Ordering},
    },
    time::Duration,
};

use headwater_model::time::EpochMs;
use headwater_store::{
    AfterRun, Claimed, InvocationEnd, NewSend, Progress, RunCommit, RunProgress, RunnableLease,
    SendId, SendRecord, SendState, SendWay, Store, Usage,
};
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};

use super::super::Sends;
pub(super) use crate::testing::{T0, config, memory};
use crate::{
    accounts::Accounts,
    config::PlatformConfig,
    core::Core,
    secrets::{KeyRing, SecretKeys},
    signing_key::SigningKey,
    testing::{HandClock, NoEngine, claim_run, core, queue_run, workflow},
    workflows::{AccountMasks, OpenedVariables, WaitKey},
};

/// A test that waits longer has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The sends of a node, with a run of a workflow whose steps queue some.
pub(super) struct Bench {
    pub(super) core: Arc<Core>,
    pub(super) sends: Sends,
    clock: Arc<HandClock>,
    run: Option<(RunnableLease, Claimed)>,
    number: AtomicU32,
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
        let core = core(store, Arc::new(NoEngine), config, Arc::clone(&clock)).await;
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
        let id = workflow(&self.core, email, json!({"files": {}})).await;
        queue_run(&self.core, &id).await;
        claim_run(&self.core, &id).await
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
