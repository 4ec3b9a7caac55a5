//! Complaints 13 and 14: more runs at once than the workflow allows, and events that are dropped.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

use headwater_engine::FlowOperation;
use headwater_model::{
    endpoint::EndpointToken,
    id::{InvocationId, WorkflowId},
    page::PageRequest,
};
use headwater_platform::{
    DeployedWorkflow, Ingress, PlatformError, RunsFilter, WaitAction, WorkflowRunStatus,
};
use serde_json::{Value, json};

use super::kill;
use crate::{
    component::Component,
    engine::{PATIENCE, Run},
    workflows::{
        Flow,
        flow::{answer, pauses, token},
        step,
    },
    world::{World, life, memory},
};

/// Runs that are started at once.
const RUNS: usize = 1_000;
/// Runs that may be at work.
const LIMIT: usize = 3;

fn limited() -> Flow {
    let settings = format!("settings:\n  concurrency: {{ limit: {LIMIT} }}\n");
    Flow::with(&settings, &[step("one", &[]), step("two", &[])])
}

/// The number that a run was started with, by hand or as the body of a request.
fn number(run: &Run) -> u64 {
    let event = &run.event["steps"]["trigger"]["event"];
    event.get("body").unwrap_or(event).as_u64().unwrap()
}

/// Whether nothing begins, however often everybody has a turn.
async fn is_still(world: &World) -> bool {
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    world.engine.nothing_started()
}

/// Lets runs go on until so many more have ended; those at work then are killed.
async fn drive(world: &World, open: &mut BTreeMap<u64, InvocationId>, ends: usize) {
    let mut at_work: Vec<Run> = Vec::new();
    let until = open.len().saturating_sub(ends);
    while open.len() > until {
        while at_work.len() < LIMIT.min(open.len()) {
            at_work.push(world.engine.next().await);
        }
        assert!(is_still(world).await, "more than {LIMIT} at once");
        let numbers: BTreeSet<u64> = at_work.iter().map(number).collect();
        assert_eq!(numbers.len(), at_work.len(), "a run is at work once");
        // Which one ends differs from time to time.
        let ending = at_work.remove(open.len() % at_work.len());
        let (is_last, number) = (ending.name == "two", number(&ending));
        ending.returns();
        if is_last {
            let run = open
                .remove(&number)
                .expect("it is at work before its end only");
            world.succeeded(&run).await;
        }
    }
}

#[test]
fn c13_of_a_thousand_runs_no_more_than_the_limit_are_at_work_over_kills_too() {
    let store = memory();
    let mut open = life(async {
        let world = World::on(&store).await;
        let flow = limited().id(&world).await;
        let starts = (0..RUNS).map(|n| world.start_run(&flow, json!(n)));
        let started = futures::future::join_all(starts).await;
        kill(&world).await;
        (0..).zip(started).collect::<BTreeMap<u64, InvocationId>>()
    });
    while !open.is_empty() {
        life(async {
            let world = World::on(&store).await;
            drive(&world, &mut open, RUNS / 4).await;
            kill(&world).await;
        });
    }
}

#[tokio::test]
async fn c13_a_run_that_waits_keeps_its_place() {
    let world = World::new().await;
    let flow = limited().id(&world).await;
    let mut runs = Vec::new();
    for n in 0..=LIMIT {
        runs.push(world.start_run(&flow, json!(n)).await);
    }
    let mut tokens = Vec::new();
    // Runs that are at work at once begin in any order.
    for _ in 0..LIMIT {
        let one = world.step("one").await;
        tokens.push(token(&one));
        pauses(&one, FlowOperation::Suspend, 60_000, None);
        one.returns();
    }
    for run in &runs[..LIMIT] {
        world.run_that(run, WorkflowRunStatus::Waiting).await;
    }
    assert!(is_still(&world).await);
    let last = &runs[LIMIT];
    assert_eq!(
        world.run_of(last).await.run.status,
        WorkflowRunStatus::Queued
    );
    answer(&world, &tokens[0], WaitAction::Cancel, json!({})).await;
    world.step("one").await.returns();
    world.step("two").await.returns();
    world.succeeded(last).await;
    let mut cancelled = 0;
    for run in &runs[..LIMIT] {
        let status = world.run_of(run).await.run.status;
        cancelled += usize::from(status == WorkflowRunStatus::Cancelled);
    }
    assert_eq!(cancelled, 1);
}

/// The token of a workflow's first trigger.
fn token_of(deployed: &DeployedWorkflow) -> EndpointToken {
    let url = deployed.workflow.triggers[0].endpoint_url.as_deref();
    EndpointToken::new(url.unwrap().rsplit('/').next().unwrap())
}

fn sent(number: u64) -> Value {
    json!({ "body": number })
}

/// The numbers of the requests that were accepted. The others were refused with the time after which to come again.
async fn accepted(world: &World, token: &EndpointToken, numbers: Range<u64>) -> BTreeSet<u64> {
    let requests = numbers.map(async |n| (n, world.request(token, sent(n)).await));
    let answers = futures::future::join_all(requests).await;
    let mut accepted = BTreeSet::new();
    for (n, answer) in answers {
        match answer {
            Ok(Ingress::AcceptedByWorkflow) => {
                accepted.insert(n);
            }
            Err(PlatformError::TooManyWaiting { retry_after_s, .. }) => assert!(retry_after_s > 0),
            other => panic!("{n}: {other:?}"),
        }
    }
    accepted
}

#[test]
fn c14_everything_accepted_runs_and_nothing_refused_does() {
    let store = memory();
    let settings =
        "triggers:\n- type: http\nsettings:\n  concurrency: { limit: 2 }\n  queue: { size: 5 }\n";
    let (token, flow) = life(async {
        let world = World::on(&store).await;
        let flow = Flow::with(settings, &[step("one", &[])]);
        let deployed = flow.deploy(&world).await;
        (token_of(&deployed), deployed.workflow.workflow.id)
    });
    let (mut expected, mut ran) = (BTreeSet::new(), Vec::new());
    for round in 0..5 {
        life(async {
            let world = World::on(&store).await;
            let first = round * 30;
            let more = accepted(&world, &token, first..first + 30).await;
            assert!(more.len() < 30, "the queue is smaller");
            expected.extend(more);
            run_some(&world, &flow, &mut ran, 3).await;
            kill(&world).await;
        });
    }
    assert!(expected.len() > 7, "there was room again: {expected:?}");
    life(async {
        let world = World::on(&store).await;
        let left = expected.len() - ran.len();
        run_some(&world, &flow, &mut ran, left).await;
        assert!(is_still(&world).await);
    });
    ran.sort_unstable();
    assert_eq!(ran, Vec::from_iter(expected));
}

/// Ends so many runs of one step each, and notes their numbers.
async fn run_some(world: &World, flow: &WorkflowId, ran: &mut Vec<u64>, count: usize) {
    for _ in 0..count {
        let one = world.step("one").await;
        ran.push(number(&one));
        one.returns();
        let is_written = async {
            while ended(world, flow).await < ran.len() {
                tokio::task::yield_now().await;
            }
        };
        let written = tokio::time::timeout(PATIENCE, is_written).await;
        written.expect("the run ends");
    }
}

/// The number of runs that have ended.
async fn ended(world: &World, flow: &WorkflowId) -> usize {
    let page = PageRequest::first(100);
    let runs = world
        .platform
        .workflow_runs(&world.caller, flow, RunsFilter::Ended, page);
    runs.await.unwrap().items.len()
}

#[test]
fn c14_events_over_the_queue_wait_in_the_log_over_kills() {
    const EVENTS: u64 = 20;
    let store = memory();
    life(async {
        let world = World::on(&store).await;
        let source = world.deploy(&Component::named("shop").http()).await;
        let settings = "settings:\n  concurrency: { limit: 1 }\n  queue: { size: 2 }\n";
        let head = format!("triggers:\n- type: events\n  emitter: {source}\n{settings}");
        Flow::with(&head, &[step("one", &[])]).deploy(&world).await;
        let token = world.token(&source).await;
        world.request(&token, json!({})).await.unwrap();
        let emitting = world.step("shop").await;
        for n in 0..EVENTS {
            emitting.emit(json!(n));
        }
        emitting.returns();
        // The first one is at work, and killed.
        drop(world.step("one").await);
    });
    let mut next = 0;
    while next < EVENTS {
        life(async {
            let world = World::on(&store).await;
            for _ in 0..3 {
                let one = world.step("one").await;
                assert_eq!(number(&one), next, "in their order, none left out");
                if next + 1 < EVENTS {
                    one.returns();
                    // The next one begins when the end of this one is written.
                    next += 1;
                    continue;
                }
                one.returns();
                next += 1;
                break;
            }
            if next < EVENTS {
                drop(world.step("one").await);
            }
        });
    }
}

#[tokio::test]
async fn c14_a_spent_quota_refuses_and_drops_nothing() {
    let world = World::with(|config| config.daily_invocations_quota = Some(3)).await;
    let flow = Flow::with("triggers:\n- type: http\n", &[step("one", &[])]);
    let deployed = flow.deploy(&world).await;
    let token = token_of(&deployed);
    for n in 0..3 {
        world.request(&token, sent(n)).await.unwrap();
    }
    let refused = world.request(&token, sent(3)).await;
    assert!(
        matches!(refused, Err(PlatformError::QuotaExceeded { .. })),
        "{refused:?}"
    );
    for n in 0..3 {
        let one = world.step("one").await;
        assert_eq!(number(&one), n);
        one.returns();
    }
    assert!(is_still(&world).await);
    let tomorrow = std::time::Duration::from_hours(24);
    world.later(&deployed.workflow.workflow.id, tomorrow).await;
    world.request(&token, sent(3)).await.unwrap();
    let one = world.step("one").await;
    assert_eq!(number(&one), 3);
    one.returns();
}
