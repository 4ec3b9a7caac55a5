//! Steps of runs of workflows that a store may write together: each has its effect as if it were alone.

use headwater_model::id::WorkflowId;

use super::{
    Factory,
    fixture::{
        MINUTE, T0, Work, assert_conflict, call_of, claim_runs, deploy, deployment, entropy, json,
        manual, owner, start, workflow,
    },
    workflow_runs::{begun, ended, goes_on, step},
};
use crate::{
    AfterRun, PlaceWrite, RunCommit, RunProgress, WaitId, WaitResolution, Workflow, WorkflowBounds,
};

/// A workflow that lets two wait takes two of those that arrive together, and holds up no other.
pub async fn a_bounded_workflow_takes_no_more_at_the_same_time(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let mut bounded = deployment(&WorkflowId::new(T0, entropy()), &owner(), T0);
    bounded.bounds = WorkflowBounds {
        waiting_runs: Some(2),
        run_days: None,
    };
    let bounded = store.deploy_workflow(bounded).await.unwrap();
    let source = deploy(&*store, epoch, &owner()).await;
    let queue = |run| store.enqueue(run, None);
    let (a, b, of_source, c, d) = tokio::join!(
        queue(call_of(&bounded.id, "1")),
        queue(call_of(&bounded.id, "2")),
        queue(manual(&source.id, "3")),
        queue(call_of(&bounded.id, "4")),
        queue(call_of(&bounded.id, "5")),
    );
    of_source.unwrap();
    let taken = [a, b, c, d].into_iter().filter(Result::is_ok).count();
    assert_eq!(taken, 2);
    let waiting = claim_runs(&*store, &bounded.id, epoch, T0).await;
    assert_eq!(waiting.len(), 2);
}

fn waits() -> AfterRun {
    AfterRun::Checkpoint {
        state: json("{}"),
        due_at_ms: T0 + MINUTE,
    }
}

/// The commit that leaves the caller until it is answered.
fn leaves(caller: &Work) -> RunCommit {
    let place = PlaceWrite {
        path: "a".to_owned(),
        body: json(r#"{"status":"waiting","generation":0}"#),
    };
    let progress = RunProgress {
        places: vec![place],
        ..RunProgress::default()
    };
    step(caller, waits(), progress)
}

/// The commit that ends the called run and answers its caller.
fn answers(called: &Work, caller: &Work, of: &Workflow) -> RunCommit {
    let answer = WaitResolution {
        wait: WaitId {
            run_id: caller.lease.invocation_id.clone(),
            path: "a".to_owned(),
            generation: 0,
        },
        resolution: json(r#"{"resume":null}"#),
    };
    let progress = RunProgress {
        resolves: vec![answer],
        ..RunProgress::default()
    };
    RunCommit {
        ended: Some(ended(of)),
        ..step(called, AfterRun::Ended, progress)
    }
}

/// A run that is left in the commit beside the one that answers it is due, whichever of the two comes first.
pub async fn an_answer_beside_the_checkpoint_is_not_lost(factory: &dyn Factory) {
    for is_answered_first in [false, true] {
        let (store, epoch) = start(factory).await;
        let of = workflow(&*store, &owner()).await;
        let caller = begun(&*store, &of, epoch).await;
        let called = begun(&*store, &of, epoch).await;
        let (leaves, answers) = (leaves(&caller), answers(&called, &caller, &of));
        let commits = match is_answered_first {
            true => [answers, leaves],
            false => [leaves, answers],
        };
        let results = store.commit_runs(commits.into()).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
        let due = claim_runs(&*store, &of.id, epoch, T0).await;
        assert_eq!(due.len(), 1, "answered first: {is_answered_first}");
        assert_eq!(due[0].lease.invocation_id, caller.lease.invocation_id);
    }
}

/// Commits of one run that come together follow each other: the last state counts, and none follows a checkpoint.
pub async fn commits_of_one_run_follow_each_other(factory: &dyn Factory) {
    let (store, epoch) = start(factory).await;
    let of = workflow(&*store, &owner()).await;
    let run = begun(&*store, &of, epoch).await;
    let then = |then| step(&run, then, RunProgress::default());
    let steps = [then(goes_on("1")), then(goes_on("2"))];
    let results = store.commit_runs(steps.into()).await;
    assert!(results.iter().all(Result::is_ok), "{results:?}");
    let open = store.open_run(&run.lease.invocation_id).await.unwrap();
    assert_eq!(open.unwrap().state.unwrap().get(), "2");
    let left = [then(waits()), then(goes_on("3"))];
    let mut results = store.commit_runs(left.into()).await.into_iter();
    results.next().unwrap().unwrap();
    assert_conflict(results.next().unwrap());
}
