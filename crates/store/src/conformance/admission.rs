//! The bounds that workflows put on their work: runs that wait, events that come twice, runs that are forgotten, sends to
//! one host.

use std::time::Duration;

use headwater_model::{
    id::{InvocationId, SubscriptionId, TriggerKind, WorkflowId},
    origin::Origin,
    subscription::EmitterPattern,
};

use super::{
    Factory,
    fixture::{
        MINUTE, SECOND, T0, Work, call_of, claim_runs, commit, deploy, deployment, emit, emitter,
        entropy, given, json, owner, run_under, send, start, term, trigger, workflow,
    },
};
use crate::{
    AfterRun, Conflict, EndedRun, Entity, InvocationEnd, PlaceWrite, RunBlob, RunCommit, RunKey,
    RunOutcome, RunProgress, RunTrigger, RunVersion, SendAttempt, SendId, SendState, Store,
    StoreError, Workflow, WorkflowBounds, WorkflowFeed,
};

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const MILLISECOND: Duration = Duration::from_millis(1);

/// An active workflow with these bounds.
async fn bounded(store: &dyn Store, bounds: WorkflowBounds) -> Workflow {
    let id = WorkflowId::new(T0, entropy());
    let mut deploy = deployment(&id, &owner(), T0);
    deploy.bounds = bounds;
    store.deploy_workflow(deploy).await.unwrap()
}

fn of_two() -> WorkflowBounds {
    WorkflowBounds {
        waiting_runs: Some(2),
        run_days: None,
    }
}

fn goes_on() -> AfterRun {
    AfterRun::GoesOn { state: json("{}") }
}

fn step(run: &Work, then: AfterRun, progress: RunProgress) -> RunCommit {
    RunCommit {
        run_id: run.lease.invocation_id.clone(),
        invocation: Some(InvocationEnd {
            lease: run.lease.clone(),
            then,
        }),
        progress: Some(progress),
        ..run_under(&run.under, Vec::new(), T0)
    }
}

fn end(run: &Work, of: &Workflow, progress: RunProgress) -> RunCommit {
    let ended = EndedRun {
        version: RunVersion::Deployment(of.deployment_id.clone()),
        trigger: RunTrigger::Http,
        replay_of: None,
        queued_at_ms: T0,
        started_at_ms: T0,
        ended_at_ms: T0,
        outcome: RunOutcome::Returned,
        error: None,
        emitted: 0,
        dropped: crate::Dropped::default(),
        has_scheduled: false,
        origin: Origin::default(),
        facts: crate::RunFacts::default(),
    };
    RunCommit {
        ended: Some(ended),
        ..step(run, AfterRun::Ended, progress)
    }
}

fn ended_send(id: &SendId) -> SendAttempt {
    SendAttempt {
        id: id.clone(),
        attempt: 1,
        state: SendState::Sent,
        due_at_ms: T0,
        result: None,
        now_ms: T0,
    }
}

pub async fn a_full_queue_refuses_runs(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = bounded(&*store, of_two()).await;
    let mut queued = Vec::new();
    for text in ["1", "2"] {
        let run = call_of(&of.id, text);
        queued.push(run.id.clone());
        store.enqueue(run, None).await.unwrap();
    }
    let full = Conflict::QueueFull(Entity::Runnable(of.id.clone().into()));
    let refused = store.enqueue(call_of(&of.id, "3"), None).await;
    assert!(matches!(refused, Err(StoreError::Conflict(why)) if why == full));
    let runs = claim_runs(&*store, &of.id, epoch, T0).await;
    assert_eq!(given(&runs), ["1", "2"], "nothing of the third was written");
    let beyond = store.waiting_beyond(&of.id, 1, 10).await.unwrap();
    assert_eq!(beyond, [queued[0].clone()]);
    // One begins: it waits no longer.
    let began = step(&runs[0], goes_on(), RunProgress::default());
    commit(&*store, began).await.unwrap();
    store.enqueue(call_of(&of.id, "4"), None).await.unwrap();
    let refused = store.enqueue(call_of(&of.id, "5"), None).await;
    assert!(matches!(refused, Err(StoreError::Conflict(why)) if why == full));
    let beyond = store.waiting_beyond(&of.id, 1, 10).await.unwrap();
    assert_eq!(beyond, [queued[1].clone()]);
    assert_eq!(store.waiting_beyond(&of.id, 2, 10).await.unwrap(), []);
}

pub async fn events_wait_in_the_log_for_room(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let source = deploy(&*store, epoch, &owner).await;
    let (bounded, other) = (
        WorkflowId::new(T0, entropy()),
        WorkflowId::new(T0, entropy()),
    );
    for (id, bounds) in [(&bounded, of_two()), (&other, WorkflowBounds::default())] {
        let mut wanted = deployment(id, &owner, T0);
        wanted.bounds = bounds;
        wanted.feeds = vec![WorkflowFeed {
            subscription: SubscriptionId::new(T0, entropy()),
            trigger: trigger(TriggerKind::Events),
            emitter: EmitterPattern::One(emitter(&source)),
            channel: String::new(),
        }];
        store.deploy_workflow(wanted).await.unwrap();
    }
    emit(&*store, &source, &["1", "2", "3", "4", "5"], T0).await;
    let dispatched =
        async |store: &dyn Store| while store.dispatch(T0, 10, 100).await.unwrap().more {};
    dispatched(&*store).await;
    let others = claim_runs(&*store, &other, epoch, T0).await;
    assert_eq!(
        given(&others),
        ["1", "2", "3", "4", "5"],
        "held up by nobody"
    );
    let runs = claim_runs(&*store, &bounded, epoch, T0).await;
    assert_eq!(given(&runs), ["1", "2"]);
    assert!(runs[0].fed_by.is_some(), "the trigger is known");
    // The log keeps what waits.
    while store.trim(0, 10, None).await.unwrap().more {}
    let store = factory.reopen(store).await;
    let epoch = store
        .start_node(&crate::NodeName::new("node"), T0)
        .await
        .unwrap();
    let mut seen: Vec<String> = Vec::new();
    for _ in 0..5 {
        let runs = claim_runs(&*store, &bounded, epoch, T0 + MINUTE * 2).await;
        seen.extend(given(&runs).into_iter().map(str::to_owned));
        for run in &runs {
            let ends = step(run, AfterRun::Ended, RunProgress::default());
            commit(&*store, ends).await.unwrap();
        }
        dispatched(&*store).await;
    }
    assert_eq!(seen, ["1", "2", "3", "4", "5"]);
}

pub async fn a_key_is_of_one_run_until_it_expires(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let first = InvocationId::new(T0, entropy());
    let second = InvocationId::new(T0, entropy());
    let key = |run: &InvocationId, hash: &str, now_ms| RunKey {
        workflow: of.id.clone(),
        trigger: "hi_1".to_owned(),
        hash: hash.to_owned(),
        run_id: run.clone(),
        expires_at_ms: now_ms + MINUTE,
    };
    let other = |key: RunKey| RunKey {
        trigger: "hi_2".to_owned(),
        ..key
    };
    for (key, now_ms, is_taken) in [
        (key(&first, "a", T0), T0, true),
        (key(&second, "a", T0), T0, false),
        (key(&second, "b", T0), T0, true),
        (other(key(&second, "a", T0)), T0, true),
        (key(&first, "a", T0), T0, true),
        (key(&second, "a", T0 + MINUTE), T0 + MINUTE, true),
    ] {
        let taken = store.take_run_key(key.clone(), now_ms).await.unwrap();
        assert_eq!(taken, is_taken, "{key:?} at {now_ms:?}");
    }
    let later_ms = T0 + MINUTE * 2;
    while store.expire_runs(later_ms, 1).await.unwrap().more {}
    let taken = store
        .take_run_key(key(&first, "b", later_ms), later_ms)
        .await;
    assert!(taken.unwrap());
}

pub async fn ended_runs_go_after_the_days_of_their_workflow(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let days = WorkflowBounds {
        waiting_runs: None,
        run_days: Some(2),
    };
    let (kept, gone) = (
        workflow(&*store, &owner()).await,
        bounded(&*store, days).await,
    );
    let mut ids = Vec::new();
    for of in [&kept, &gone] {
        store.enqueue(call_of(&of.id, "1"), None).await.unwrap();
        let run = claim_runs(&*store, &of.id, epoch, T0).await.remove(0);
        let mut progress = RunProgress::default();
        progress.places.push(PlaceWrite {
            path: "a".to_owned(),
            body: json("{}"),
        });
        commit(&*store, end(&run, of, progress)).await.unwrap();
        ids.push(run.lease.invocation_id.clone());
    }
    let open = call_of(&gone.id, "2");
    store.enqueue(open.clone(), None).await.unwrap();
    let days = DAY * 2;
    for (later, is_there) in [(days - MILLISECOND, true), (days, false)] {
        while store.expire_runs(T0 + later, 1).await.unwrap().more {}
        assert_eq!(store.run(&ids[1]).await.unwrap().is_some(), is_there);
        assert_eq!(
            store.run_places(&ids[1]).await.unwrap().is_empty(),
            !is_there
        );
    }
    assert!(store.run(&ids[0]).await.unwrap().is_some());
    assert!(store.open_run(&open.id).await.unwrap().is_some());
}

pub async fn a_forgotten_run_leaves_its_record(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    store.enqueue(call_of(&of.id, "1"), None).await.unwrap();
    let run = claim_runs(&*store, &of.id, epoch, T0).await.remove(0);
    let id = run.lease.invocation_id.clone();
    let mut progress = RunProgress::default();
    progress.places.push(PlaceWrite {
        path: "a".to_owned(),
        body: json("{}"),
    });
    progress.blobs.push(RunBlob {
        hash: "b10b".to_owned(),
        bytes: bytes::Bytes::from_static(b"[1]"),
    });
    progress.sends = vec![send(0, None), send(1, None)];
    commit(&*store, step(&run, goes_on(), progress))
        .await
        .unwrap();
    let claimed = store.claim_sends(term(epoch), T0, 1).await.unwrap();
    store
        .end_sends(vec![ended_send(&claimed[0].id)])
        .await
        .unwrap();
    let last = RunProgress {
        is_forgotten: true,
        details: Some(json("{}")),
        ..RunProgress::default()
    };
    commit(&*store, end(&run, &of, last)).await.unwrap();
    assert!(store.run(&id).await.unwrap().is_some());
    assert!(store.run_details(&id).await.unwrap().is_some());
    assert_eq!(store.run_places(&id).await.unwrap().len(), 0);
    assert!(store.run_blob(&id, "b10b").await.unwrap().is_none());
    // The other one is sent, and goes then.
    let sends = store.claim_sends(term(epoch), T0, 10).await.unwrap();
    assert_eq!(sends.len(), 1);
    assert_eq!(store.run_sends(&id).await.unwrap().len(), 1);
    store
        .end_sends(vec![ended_send(&sends[0].id)])
        .await
        .unwrap();
    assert_eq!(store.run_sends(&id).await.unwrap().len(), 0);
}

pub async fn a_full_lane_leaves_other_lanes_their_room(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    store.enqueue(call_of(&of.id, "1"), None).await.unwrap();
    let run = claim_runs(&*store, &of.id, epoch, T0).await.remove(0);
    let most = crate::SENDS_PER_LANE;
    let slow = (0..2 * most).map(|number| send(number, Some("slow")));
    let others = [send(2 * most, Some("other")), send(2 * most + 1, None)];
    let progress = RunProgress {
        sends: slow.chain(others).collect(),
        ..RunProgress::default()
    };
    commit(&*store, step(&run, goes_on(), progress))
        .await
        .unwrap();
    let claimed = store.claim_sends(term(epoch), T0, 100).await.unwrap();
    let numbers: Vec<u32> = claimed.iter().map(|send| send.id.number).collect();
    let expected: Vec<u32> = (0..most).chain([2 * most, 2 * most + 1]).collect();
    assert_eq!(numbers, expected);
    let more = store.claim_sends(term(epoch), T0, 100).await.unwrap();
    assert!(more.is_empty(), "{more:?}");
    let next_ms = store.next_send_due().await.unwrap();
    assert!(next_ms > Some(T0 + SECOND), "those that wait have no time");
    store
        .end_sends(vec![ended_send(&claimed[0].id)])
        .await
        .unwrap();
    let next = store.claim_sends(term(epoch), T0, 100).await.unwrap();
    assert_eq!(next.len(), 1);
    assert_eq!(next[0].id.number, most);
}
