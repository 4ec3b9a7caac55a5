//! Runs of workflows on the way: places, waits and their answers, sends, and what is kept at their end.

use bytes::Bytes;
use headwater_model::{
    channel::Channel,
    id::{TriggerKind, WorkflowId},
    origin::Origin,
    page::PageRequest,
};

use super::{
    Factory,
    fixture::{
        MINUTE, MS, SECOND, T0, Work, assert_conflict, call_of, claim_runs, commit, deployment,
        entropy, event_on, json, owner, run_under, send, start, term, timer_of, trigger, workflow,
    },
};
use crate::{
    AfterRun, ClaimedSend, EndedRun, InvocationEnd, KeptRuns, LeaseTerm, PlaceWrite, RunBlob,
    RunCommit, RunOutcome, RunProgress, RunTrigger, RunVersion, SendAttempt, SendState, Store,
    WaitId, WaitResolution, WaitResolved, WorkLimit, Workflow, WorkflowHealth,
};

/// A run that was claimed.
pub(super) async fn begun(store: &dyn Store, of: &Workflow, epoch: crate::NodeEpoch) -> Work {
    let queued = call_of(&of.id, r#"{"n":1}"#);
    store.enqueue(queued, None).await.unwrap();
    let mut runs = claim_runs(store, &of.id, epoch, T0).await;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

fn place(path: &str, status: &str, generation: u32) -> PlaceWrite {
    PlaceWrite {
        path: path.to_owned(),
        body: json(&format!(
            r#"{{"status":"{status}","generation":{generation}}}"#
        )),
    }
}

fn wait(run: &Work, path: &str, generation: u32) -> WaitId {
    WaitId {
        run_id: run.lease.invocation_id.clone(),
        path: path.to_owned(),
        generation,
    }
}

fn answer(wait: &WaitId) -> WaitResolution {
    WaitResolution {
        wait: wait.clone(),
        resolution: json(r#"{"resume":null}"#),
    }
}

/// The commit of a step of a run.
pub(super) fn step(run: &Work, then: AfterRun, progress: RunProgress) -> RunCommit {
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

fn with_place(place: PlaceWrite) -> RunProgress {
    RunProgress {
        places: vec![place],
        ..RunProgress::default()
    }
}

pub(super) fn goes_on(state: &str) -> AfterRun {
    AfterRun::GoesOn { state: json(state) }
}

fn waits(state: &str) -> AfterRun {
    AfterRun::Checkpoint {
        state: json(state),
        due_at_ms: T0 + MINUTE,
    }
}

pub(super) fn ended(of: &Workflow) -> EndedRun {
    EndedRun {
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
    }
}

pub async fn a_run_goes_on_from_its_last_step(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let mut progress = with_place(place("a", "succeeded", 0));
    progress.blobs.push(RunBlob {
        hash: "b10b".to_owned(),
        bytes: Bytes::from_static(b"[1]"),
    });
    commit(&*store, step(&run, goes_on("1"), progress))
        .await
        .unwrap();
    commit(
        &*store,
        step(&run, goes_on("2"), with_place(place("b", "running", 0))),
    )
    .await
    .unwrap();
    let store = factory.reopen(store).await;
    let epoch = store
        .start_node(&crate::NodeName::new("node"), T0)
        .await
        .unwrap();
    let again = claim_runs(&*store, &of.id, epoch, T0).await;
    assert_eq!(again.len(), 1);
    assert_eq!(again[0].state.as_ref().map(|state| state.get()), Some("2"));
    assert_eq!(again[0].event.get(), r#"{"n":1}"#);
    assert_eq!(again[0].starts, 2, "a start is counted since its last step");
    let id = &run.lease.invocation_id;
    let mut places: Vec<_> = store
        .run_places(id)
        .await
        .unwrap()
        .into_iter()
        .map(|place| place.path)
        .collect();
    places.sort();
    assert_eq!(places, ["a", "b"]);
    let blob = store.run_blob(id, "b10b").await.unwrap();
    assert_eq!(blob.as_deref(), Some(&b"[1]"[..]));
    let late = commit(&*store, step(&run, goes_on("3"), RunProgress::default())).await;
    assert_conflict(late);
}

pub async fn a_claim_may_be_of_runs_that_go_on_alone(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let commit_of = step(&run, waits("{}"), RunProgress::default());
    commit(&*store, commit_of).await.unwrap();
    for _ in 0..2 {
        let queued = call_of(&of.id, "{}");
        store.enqueue(queued, None).await.unwrap();
    }
    let claim = async |has_begun, now_ms| {
        let limit = WorkLimit {
            has_begun,
            ..WorkLimit::of(1)
        };
        let claimed = store.claim(&run.under, term(epoch), now_ms, limit).await;
        let ids = claimed.unwrap().into_iter();
        ids.map(|run| run.lease.invocation_id).collect::<Vec<_>>()
    };
    assert_eq!(claim(true, T0).await, [], "its wait is not over");
    let id = run.lease.invocation_id.clone();
    assert_eq!(claim(true, T0 + MINUTE).await, [id]);
    assert_eq!(claim(false, T0).await.len(), 1);
}

/// Reads answers in the order in which they came, whichever run they are of, and those of the runs that were asked for alone.
pub async fn answers_of_several_runs_are_read_in_their_order(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let mut runs = Vec::new();
    for _ in 0..3 {
        let run = begun(&*store, &of, epoch).await;
        let waiting = step(&run, waits("{}"), with_place(place("a", "waiting", 0)));
        commit(&*store, waiting).await.unwrap();
        runs.push(run);
    }
    for run in runs.iter().rev() {
        let answer = answer(&wait(run, "a", 0));
        store.resolve_wait(answer, T0).await.unwrap();
    }
    let asked = [&runs[0], &runs[2]].map(|run| run.lease.invocation_id.clone());
    let resolutions = store.resolutions(&asked).await.unwrap();
    let read = resolutions.iter().map(|answer| &answer.wait.run_id);
    let read: Vec<_> = read.collect();
    assert_eq!(read, [&asked[1], &asked[0]]);
    assert_eq!(store.resolutions(&[]).await.unwrap().len(), 0);
    let beside = store.workflow_of_runs(&of.id, &asked).await.unwrap();
    let (beside, answers) = beside.unwrap();
    let answers = answers.iter().map(|answer| &answer.wait.run_id);
    assert_eq!(beside.id, of.id);
    assert_eq!(answers.collect::<Vec<_>>(), read);
    let nobody = WorkflowId::new(T0, entropy());
    let none = store.workflow_of_runs(&nobody, &asked).await.unwrap();
    assert!(none.is_none());
}

pub async fn a_wait_is_answered_once(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let first = wait(&run, "a", 0);
    let waiting = step(&run, waits("{}"), with_place(place("a", "waiting", 0)));
    commit(&*store, waiting).await.unwrap();
    assert_eq!(
        claim_runs(&*store, &of.id, epoch, T0).await.len(),
        0,
        "it waits"
    );
    let resolved = store.resolve_wait(answer(&first), T0).await.unwrap();
    assert_eq!(resolved, WaitResolved::Now(of.id.clone().into()));
    let twice = store.resolve_wait(answer(&first), T0).await.unwrap();
    assert_eq!(twice, WaitResolved::Before);
    let old = store
        .resolve_wait(answer(&wait(&run, "a", 7)), T0)
        .await
        .unwrap();
    assert_eq!(old, WaitResolved::Before, "that is not its wait");
    let again = claim_runs(&*store, &of.id, epoch, T0).await;
    assert_eq!(again.len(), 1, "it is due");
    let open = store
        .resolutions(std::slice::from_ref(&run.lease.invocation_id))
        .await
        .unwrap();
    assert_eq!(
        open.iter().map(|open| &open.wait).collect::<Vec<_>>(),
        [&first]
    );
    let mut applied = with_place(place("a", "succeeded", 1));
    applied.applied.push(first.clone());
    commit(&*store, step(&again[0], goes_on("{}"), applied))
        .await
        .unwrap();
    assert_eq!(
        store
            .resolutions(std::slice::from_ref(&run.lease.invocation_id))
            .await
            .unwrap()
            .len(),
        0
    );
    let over = store
        .resolve_wait(answer(&wait(&run, "a", 1)), T0)
        .await
        .unwrap();
    assert_eq!(over, WaitResolved::Before, "its place has ended");
    let mut end = step(&again[0], AfterRun::Ended, RunProgress::default());
    end.ended = Some(ended(&of));
    commit(&*store, end).await.unwrap();
    assert_eq!(
        store.resolve_wait(answer(&first), T0).await.unwrap(),
        WaitResolved::Ended
    );
    let unknown = WaitId {
        run_id: call_of(&of.id, "1").id,
        ..first
    };
    assert_eq!(
        store.resolve_wait(answer(&unknown), T0).await.unwrap(),
        WaitResolved::Unknown
    );
}

pub async fn an_answer_before_the_checkpoint_is_not_lost(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    // The step still runs: nothing of it is written yet.
    let early = store
        .resolve_wait(answer(&wait(&run, "a", 0)), T0)
        .await
        .unwrap();
    assert_eq!(early, WaitResolved::Now(of.id.clone().into()));
    let waiting = step(&run, waits("{}"), with_place(place("a", "waiting", 0)));
    commit(&*store, waiting).await.unwrap();
    assert_eq!(claim_runs(&*store, &of.id, epoch, T0).await.len(), 1);
}

pub async fn a_run_that_waits_does_not_stop_the_clock(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let id = WorkflowId::new(T0, entropy());
    let mut deploy = deployment(&id, &owner, T0);
    deploy.timers = vec![timer_of(&trigger(TriggerKind::Timer), 60)];
    let of = store.deploy_workflow(deploy).await.unwrap();
    for minute in 1..=3 {
        let now_ms = T0 + minute * MINUTE;
        assert_eq!(store.fire_timers(now_ms, 10).await.unwrap().done, 1);
        let runs = claim_runs(&*store, &of.id, epoch, now_ms).await;
        assert_eq!(runs.len(), 1, "minute {minute}");
        let waiting = AfterRun::Checkpoint {
            state: json("1"),
            due_at_ms: T0 + 100 * MINUTE,
        };
        let progress = with_place(place("a", "waiting", 0));
        commit(&*store, step(&runs[0], waiting, progress))
            .await
            .unwrap();
    }
}

pub async fn places_go_with_their_run(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let mut progress = with_place(place("a", "succeeded", 0));
    progress.details = Some(json(r#"{"deployment":"d"}"#));
    let mut end = step(&run, AfterRun::Ended, progress);
    end.ended = Some(ended(&of));
    commit(&*store, end).await.unwrap();
    let id = run.lease.invocation_id.clone();
    assert_eq!(store.run_places(&id).await.unwrap().len(), 1);
    let details = store.run_details(&id).await.unwrap();
    assert_eq!(
        details.map(|details| details.get().to_owned()).as_deref(),
        Some(r#"{"deployment":"d"}"#)
    );
    let record = store.run(&id).await.unwrap().unwrap();
    assert_eq!(record.ended, ended(&of));
    let none = KeptRuns {
        successes: 0,
        failures: 0,
    };
    while store.trim_runs(none, 10).await.unwrap().more {}
    assert!(store.run(&id).await.unwrap().is_none());
    assert!(store.run_details(&id).await.unwrap().is_none());
    assert_eq!(store.run_places(&id).await.unwrap().len(), 0);
}

pub async fn open_runs_are_listed_newest_first(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    commit(&*store, step(&run, waits("7"), RunProgress::default()))
        .await
        .unwrap();
    let queued = call_of(&of.id, "2");
    store.enqueue(queued.clone(), None).await.unwrap();
    let page = store
        .open_runs(&of.id.clone().into(), &PageRequest::first(10))
        .await
        .unwrap();
    assert_eq!(page.total_count, 2);
    let shown: Vec<_> = page
        .items
        .iter()
        .map(|one| (&one.id, one.due_at_ms))
        .collect();
    assert_eq!(
        shown,
        [
            (&queued.id, queued.due_at_ms),
            (&run.lease.invocation_id, T0 + MINUTE)
        ]
    );
    let one = store
        .open_run(&run.lease.invocation_id)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        one.state.map(|state| state.get().to_owned()).as_deref(),
        Some("7")
    );
    assert!(!one.is_leased);
}

pub async fn called_runs_begin_with_the_commit_that_calls_them(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let (of, other) = (
        workflow(&*store, &owner).await,
        workflow(&*store, &owner).await,
    );
    let run = begun(&*store, &of, epoch).await;
    let mut progress = with_place(place("a", "waiting", 0));
    let mut called = call_of(&other.id, r#"{"called":true}"#);
    called.trigger = crate::Trigger::Call;
    // Of a repeated id the first counts, and a workflow that is not there takes no run.
    let mut of_nobody = call_of(&WorkflowId::new(T0, entropy()), "{}");
    of_nobody.trigger = crate::Trigger::Call;
    progress.calls = vec![called.clone(), of_nobody, called.clone()];
    commit(&*store, step(&run, waits("{}"), progress))
        .await
        .unwrap();
    let theirs = claim_runs(&*store, &other.id, epoch, T0).await;
    assert_eq!(theirs.len(), 1);
    assert_eq!(theirs[0].lease.invocation_id, called.id);
    let mut end = step(&theirs[0], AfterRun::Ended, RunProgress::default());
    end.ended = Some(ended(&other));
    let answered = answer(&wait(&run, "a", 0));
    end.progress.as_mut().unwrap().resolves.push(answered);
    commit(&*store, end).await.unwrap();
    assert_eq!(
        claim_runs(&*store, &of.id, epoch, T0).await.len(),
        1,
        "the caller goes on"
    );
}

pub async fn a_send_has_one_lease(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    assert_eq!(store.next_send_due().await.unwrap(), None);
    let mut progress = RunProgress::default();
    progress.sends.push(send(0, None));
    let queued = step(&run, goes_on("{}"), progress);
    commit(&*store, queued.clone()).await.unwrap();
    commit(&*store, queued).await.unwrap();
    let claimed = store.claim_sends(term(epoch), T0, 10).await.unwrap();
    assert_eq!(claimed.len(), 1, "a send is queued once");
    assert_eq!(
        store.claim_sends(term(epoch), T0, 10).await.unwrap().len(),
        0
    );
    let ended = |attempt, state| SendAttempt {
        id: claimed[0].id.clone(),
        attempt,
        state,
        due_at_ms: T0 + SECOND,
        result: Some(json(r#"{"status":500}"#)),
        now_ms: T0,
    };
    store
        .end_sends(vec![ended(1, SendState::Pending)])
        .await
        .unwrap();
    assert_eq!(store.next_send_due().await.unwrap(), Some(T0 + SECOND));
    assert_eq!(
        store.claim_sends(term(epoch), T0, 10).await.unwrap().len(),
        0,
        "it waits"
    );
    let again = store
        .claim_sends(term(epoch), T0 + SECOND, 10)
        .await
        .unwrap();
    assert_eq!(again[0].attempt, 2);
    store
        .end_sends(vec![ended(1, SendState::Failed)])
        .await
        .unwrap();
    let shown = store.run_sends(&run.lease.invocation_id).await.unwrap();
    assert_eq!(shown[0].state, SendState::Pending, "that lease was lost");
    store
        .end_sends(vec![ended(2, SendState::Sent)])
        .await
        .unwrap();
    let shown = store.run_sends(&run.lease.invocation_id).await.unwrap();
    assert_eq!((shown[0].state, shown[0].attempts), (SendState::Sent, 2));
    assert_eq!(store.next_send_due().await.unwrap(), None);
}

pub async fn sends_of_a_lost_claim_are_given_back(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let progress = RunProgress {
        sends: vec![send(0, None), send(1, None)],
        ..RunProgress::default()
    };
    commit(&*store, step(&run, goes_on("{}"), progress))
        .await
        .unwrap();
    let kept = store.claim_sends(term(epoch), T0, 1).await.unwrap();
    let of_lost = LeaseTerm {
        expires_at_ms: term(epoch).expires_at_ms + MS,
        ..term(epoch)
    };
    let lost = store.claim_sends(of_lost, T0, 1).await.unwrap();
    store.release_send_claim(of_lost).await.unwrap();
    assert_eq!(store.next_send_due().await.unwrap(), Some(T0));
    let again = store.claim_sends(term(epoch), T0, 10).await.unwrap();
    let told = |claimed: &[ClaimedSend]| {
        let sends = claimed.iter();
        sends
            .map(|send| (send.id.number, send.attempt))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&kept), [(0, 1)]);
    assert_eq!(told(&lost), [(1, 1)]);
    assert_eq!(told(&again), [(1, 1)], "an attempt that nobody began");
}

pub async fn variables_are_their_tenants_own(factory: &dyn Factory) {
    let (store, _) = start(factory).await;
    let variable = |name: &str, value: u8| crate::Variable {
        name: name.to_owned(),
        value: crate::Sealed(vec![value]),
        updated_at: T0.to_seconds(),
    };
    store.set_variable("u_1", variable("B", 1)).await.unwrap();
    store.set_variable("u_1", variable("A", 2)).await.unwrap();
    store.set_variable("u_2", variable("A", 3)).await.unwrap();
    store.set_variable("u_1", variable("B", 4)).await.unwrap();
    let all = store.variables("u_1").await.unwrap();
    assert_eq!(all, [variable("A", 2), variable("B", 4)]);
    assert!(store.delete_variable("u_1", "A").await.unwrap());
    assert!(!store.delete_variable("u_1", "A").await.unwrap());
    assert_eq!(store.variables("u_2").await.unwrap(), [variable("A", 3)]);
}

pub async fn health_of_workflows_has_open_runs_and_the_next_tick(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let owner = owner();
    let other = workflow(&*store, &owner).await;
    let id = WorkflowId::new(T0, entropy());
    let mut wanted = deployment(&id, &owner, T0);
    wanted.timers = [60, 15]
        .map(|seconds| timer_of(&trigger(TriggerKind::Timer), seconds))
        .to_vec();
    let of = store.deploy_workflow(wanted).await.unwrap();
    let both = [other.id.clone(), id.clone()];
    let health = || async { store.workflows_health(&both).await.unwrap() };
    let none = WorkflowHealth::default();
    let ticks = WorkflowHealth {
        next_tick_at_ms: Some(T0 + 15 * SECOND),
        ..WorkflowHealth::default()
    };
    assert_eq!(health().await, [none.clone(), ticks.clone()]);
    let run = begun(&*store, &of, epoch).await;
    commit(&*store, step(&run, waits("{}"), RunProgress::default()))
        .await
        .unwrap();
    let queued = call_of(&id, "2");
    store.enqueue(queued, None).await.unwrap();
    assert_eq!(health().await[1].open_runs, 2, "waiting and queued");
    let claimed = claim_runs(&*store, &id, epoch, T0).await;
    let mut end = step(&claimed[0], AfterRun::Ended, RunProgress::default());
    end.ended = Some(ended(&of));
    end.events = vec![event_on(Channel::named("orders"), "1")];
    commit(&*store, end).await.unwrap();
    let found = health().await.remove(1);
    let channel = found.last_event.map(|event| event.channel);
    assert_eq!(channel, Some(Channel::named("orders")));
    assert_eq!(found.open_runs, 1);
    assert_eq!(found.last_run.unwrap().ended, ended(&of));
    assert_eq!(found.failing_since_ms, None);
    store.set_workflow_active(&id, false, T0).await.unwrap();
    let found = health().await;
    assert_eq!(found[1].next_tick_at_ms, None);
    assert_eq!(found[0], none, "of others there is nothing");
}

pub async fn a_workflow_that_is_being_deleted_runs_nothing_more(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let first = wait(&run, "a", 0);
    let waiting = step(&run, waits("{}"), with_place(place("a", "waiting", 0)));
    commit(&*store, waiting).await.unwrap();
    store.enqueue(call_of(&of.id, "1"), None).await.unwrap();
    assert!(store.begin_workflow_deletion(&of.id).await.unwrap());
    let resolved = store.resolve_wait(answer(&first), T0).await.unwrap();
    assert_eq!(resolved, WaitResolved::Ended);
    let claimed = claim_runs(&*store, &of.id, epoch, T0 + MINUTE).await;
    assert_eq!(claimed.len(), 0);
}
