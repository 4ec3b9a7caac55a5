//! Complaints 7 to 11: answers that come too early or twice, delays that are lost, waits that are skipped or cannot end
//! but by cancelling.

use std::time::Duration;

use headwater_engine::FlowOperation;
use headwater_model::id::{InvocationId, WorkflowId};
use headwater_platform::{WaitAction, WaitAnswer, WorkflowRunStatus, WorkflowRunView};
use headwater_store::KeptRuns;
use serde_json::{Value, json};

use super::{LATER, Next, Notes, beside, block, each, either, events, next};
use crate::{
    engine::returned_with,
    workflows::{
        Flow,
        flow::{answer, pauses, token},
        paths, returned, step,
    },
    world::{World, life, memory},
};

const DAY: Duration = Duration::from_hours(24);

async fn two_steps(world: &World) -> WorkflowId {
    Flow::of(&[step("one", &[]), step("two", &[])])
        .id(world)
        .await
}

#[test]
fn c07_an_answer_that_came_before_the_wait_outlives_a_kill() {
    let store = memory();
    let (run, url) = life(async {
        let world = World::on(&store).await;
        let flow = two_steps(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        let one = world.step("one").await;
        let early = token(&one);
        pauses(&one, FlowOperation::Suspend, 60_000, None);
        let data = json!({ "early": true });
        assert_eq!(
            answer(&world, &early, WaitAction::Resume, data).await,
            WaitAnswer::Taken
        );
        // Killed before the step's end: nothing of the pause is stored.
        drop(one);
        (run, early)
    });
    life(async {
        let world = World::on(&store).await;
        let one = world.step("one").await;
        assert_eq!(
            token(&one),
            url,
            "the URL that was handed out is that of the step"
        );
        let again = answer(&world, &url, WaitAction::Resume, json!(2)).await;
        assert_eq!(again, WaitAnswer::Before);
        pauses(&one, FlowOperation::Suspend, 60_000, None);
        one.returns();
        let two = world.step("two").await;
        let resumed = &two.event["steps"]["one"]["$resume_data"];
        assert_eq!(resumed, &json!({ "early": true }));
        two.returns();
        world.succeeded(&run).await;
    });
}

#[tokio::test]
async fn c07_early_answers_of_each_kind_count() {
    let world = World::new().await;
    let flow = two_steps(&world).await;
    for (operation, action) in [
        (FlowOperation::Delay, WaitAction::Resume),
        (FlowOperation::Suspend, WaitAction::Rerun),
        (FlowOperation::Rerun, WaitAction::Resume),
        (FlowOperation::Suspend, WaitAction::Cancel),
    ] {
        let run = world.start_run(&flow, json!({})).await;
        let one = world.step("one").await;
        pauses(&one, operation, 60_000, None);
        let taken = answer(&world, &token(&one), action, json!("early")).await;
        assert_eq!(taken, WaitAnswer::Taken);
        one.returns();
        match action {
            WaitAction::Cancel => {
                let seen = world.run_that(&run, WorkflowRunStatus::Cancelled).await;
                assert_eq!(paths(&seen), ["one"]);
                continue;
            }
            WaitAction::Resume if operation == FlowOperation::Delay => {}
            WaitAction::Resume | WaitAction::Rerun => {
                let again = world.step("one").await;
                let context = &again.event["context"]["run"];
                assert_eq!(context["runs"], 2, "{operation:?}");
                assert_eq!(context["callback_request"], "early", "{operation:?}");
                again.returns();
            }
        }
        world.step("two").await.returns();
        world.succeeded(&run).await;
    }
}

#[tokio::test]
async fn c07_an_answer_to_a_step_that_does_not_wait_changes_nothing() {
    let world = World::new().await;
    let flow = two_steps(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let one = world.step("one").await;
    let early = answer(&world, &token(&one), WaitAction::Cancel, json!({})).await;
    assert_eq!(early, WaitAnswer::Taken);
    one.returns();
    let two = world.step("two").await;
    assert_eq!(two.event["steps"]["one"].get("$resume_data"), None);
    two.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn c07_an_answer_that_was_taken_counts_even_if_its_run_is_read_after_the_wait() {
    let world = World::new().await;
    let flow = two_steps(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let one = world.step("one").await;
    let token = token(&one);
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    // The time is over, and nobody has noticed yet.
    world.clock.advance(61_000);
    let data = json!({ "late": false });
    let taken = answer(&world, &token, WaitAction::Resume, data.clone()).await;
    assert_eq!(taken, WaitAnswer::Taken);
    let two = world.step("two").await;
    assert_eq!(two.event["steps"]["one"]["$resume_data"], data);
    two.returns();
    world.succeeded(&run).await;
}

#[tokio::test]
async fn c08_of_many_answers_at_once_one_counts() {
    let world = World::new().await;
    let flow = two_steps(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    let one = world.step("one").await;
    let token = token(&one);
    pauses(&one, FlowOperation::Suspend, 60_000, None);
    one.returns();
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    let answers = (0..50).map(|n| answer(&world, &token, WaitAction::Resume, json!(n)));
    let answers = futures::future::join_all(answers).await;
    let taken = answers.iter().positions(WaitAnswer::Taken);
    let before = answers.iter().positions(WaitAnswer::Before);
    assert_eq!((taken.len(), before.len()), (1, 49), "{answers:?}");
    let two = world.step("two").await;
    assert_eq!(two.event["steps"]["one"]["$resume_data"], taken[0]);
    // Cancelling through the old link is too late.
    let late = answer(&world, &token, WaitAction::Cancel, json!({})).await;
    assert_eq!(late, WaitAnswer::Before);
    two.returns();
    world.succeeded(&run).await;
}

/// The places of one answer among others.
trait Positions {
    fn positions(self, wanted: WaitAnswer) -> Vec<usize>;
}

impl<'a, Answers: Iterator<Item = &'a WaitAnswer>> Positions for Answers {
    fn positions(self, wanted: WaitAnswer) -> Vec<usize> {
        let found = self.enumerate().filter(|(_, answer)| **answer == wanted);
        found.map(|(position, _)| position).collect()
    }
}

#[tokio::test]
async fn c08_an_old_link_answers_no_later_wait() {
    let world = World::new().await;
    let flow = Flow::of(&[each("items", "[1, 2]", "", &[step("ask", &[])])])
        .id(&world)
        .await;
    let run = world.start_run(&flow, json!({})).await;
    let mut old: Vec<String> = Vec::new();
    // Each item waits, runs again because of the answer, and waits once more.
    for (item, execution) in [(0, 1), (0, 2), (1, 1), (1, 2)] {
        let ask = world.step("ask").await;
        let token = token(&ask);
        assert!(!old.contains(&token), "each wait has URLs of its own");
        pauses(&ask, FlowOperation::Suspend, 60_000, None);
        ask.returns();
        let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
        for token in &old {
            for action in [WaitAction::Resume, WaitAction::Rerun, WaitAction::Cancel] {
                let late = answer(&world, token, action, json!("old")).await;
                assert_eq!(late, WaitAnswer::Before, "{item} {execution}");
            }
        }
        let still = world.run_of(&run).await;
        assert_eq!(format!("{still:?}"), format!("{waiting:?}"));
        let action = match execution {
            1 => WaitAction::Rerun,
            _ => WaitAction::Resume,
        };
        assert_eq!(
            answer(&world, &token, action, json!("new")).await,
            WaitAnswer::Taken
        );
        old.push(token);
    }
    world.succeeded(&run).await;
    for token in &old {
        let late = answer(&world, token, WaitAction::Resume, json!("old")).await;
        assert_eq!(late, WaitAnswer::Ended);
    }
}

/// Deletes what may be deleted, as the node does all the time.
async fn retain(world: &World, days: u64) {
    let kept = KeptRuns {
        successes: 0,
        failures: 0,
    };
    let now_ms = crate::world::T0 + DAY * u32::try_from(days).unwrap();
    world.store.trim_runs(kept, 1_000).await.unwrap();
    world.store.expire_runs(now_ms, 1_000).await.unwrap();
}

#[test]
fn c09_71_days_of_delays_outlive_retention_and_the_node() {
    const DAYS: u64 = 71;
    let days: Vec<u64> = (0..DAYS).collect();
    let big = json!("x".repeat(300_000));
    let store = memory();
    let (flow, run) = life(async {
        let world = World::on(&store).await;
        let pause = block("pause", "delay", &["for: 1d"]);
        let settings = "settings:\n  data_retention: { days: 1 }\n";
        let delays = each(
            "days",
            &json!(days).to_string(),
            "",
            &[pause, step("tick", &[])],
        );
        let flow = Flow::with(settings, &[step("big", &[]), delays, step("last", &[])]);
        let flow = flow.id(&world).await;
        let run = world.start_run(&flow, json!({ "n": 1 })).await;
        world.step("big").await.ends(returned_with(big.clone()));
        world.run_that(&run, WorkflowRunStatus::Waiting).await;
        (flow, run)
    });
    for day in 0..DAYS {
        life(async {
            let world = World::on_after(&store, DAY * u32::try_from(day).unwrap()).await;
            world.later(&flow, Duration::ZERO).await;
            retain(&world, day).await;
            world.later(&flow, DAY - Duration::from_millis(1)).await;
            let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
            assert_eq!(
                waiting.waits[0].path.to_string(),
                format!("days[{day}].pause")
            );
            world.later(&flow, Duration::from_millis(1)).await;
            let tick = world.step("tick").await;
            assert_eq!(tick.event["steps"]["days"]["index"], day);
            tick.returns();
            if day + 1 < DAYS {
                world.run_that(&run, WorkflowRunStatus::Waiting).await;
                return;
            }
            let last = world.step("last").await;
            assert_eq!(last.event["steps"]["big"]["$return_value"], big);
            assert_eq!(last.event["steps"]["trigger"]["event"], json!({ "n": 1 }));
            last.returns();
            let ended = world.succeeded(&run).await;
            assert_eq!(ended.run.started_at_ms.unwrap(), crate::world::T0);
            retain(&world, DAYS + 2).await;
            let gone = world.platform.workflow_run(&world.caller, &run).await;
            assert!(gone.is_err(), "one that has ended goes");
        });
    }
}

/// The run, once it has ended with no other step than these.
async fn ends(world: &World, run: &InvocationId, steps: &[&str]) -> WorkflowRunView {
    for name in steps {
        world.step(name).await.returns();
    }
    match next(world, run).await {
        Next::Ended(ended) => *ended,
        Next::Waits(waiting) => panic!("it waits: {waiting:?}"),
        Next::Step(step) => panic!("{} runs", step.name),
    }
}

/// The token of the URLs of the only wait.
fn token_of(waiting: &WorkflowRunView) -> String {
    let mut parts = waiting.waits[0].urls.resume.split('/');
    parts.nth_back(1).unwrap().to_owned()
}

#[tokio::test]
async fn c10_a_wait_that_is_skipped_holds_nothing() {
    let world = World::new().await;
    let wait = |more: &[&str]| block("ask", "wait", more);
    let never = "if: '{{false}}'";
    for skipped in [
        wait(&[never]),
        wait(&["disabled: true"]),
        block("ask", "delay", &["for: 1d", never]),
        each("items", "[]", "", &[wait(&[])]),
        each("items", "[1, 2]", "", &[wait(&[never])]),
        either("route", "false", &[wait(&[])], &[]),
        beside("both", "settle", &[("ask", &[wait(&[never])]), ("go", &[])]),
    ] {
        let flow = Flow::of(&[step("one", &[]), skipped.clone(), step("two", &[])]);
        let flow = flow.id(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        let ended = ends(&world, &run, &["one", "two"]).await;
        assert_eq!(ended.run.status, WorkflowRunStatus::Succeeded, "{skipped}");
    }
}

#[tokio::test]
async fn c10_a_wait_in_any_branch_holds_the_join() {
    let world = World::new().await;
    let ask = || block("ask", "wait", &[]);
    let nested = || {
        let route = either("route", "true", &[ask()], &[]);
        beside("inner", "settle", &[("a", &[route]), ("b", &[])])
    };
    for mode in ["fail_fast", "settle"] {
        for waits in [ask(), nested(), each("items", "[1]", "", &[nested()])] {
            for is_first in [true, false] {
                let fast = ("fast", &[step("fast", &[])][..]);
                let slow = ("slow", &[waits.clone()][..]);
                let branches = if is_first { [slow, fast] } else { [fast, slow] };
                let both = beside("both", mode, &branches);
                let flow = Flow::of(&[both, step("after", &[])]).id(&world).await;
                let run = world.start_run(&flow, json!({})).await;
                world.step("fast").await.returns();
                let Next::Waits(waiting) = next(&world, &run).await else {
                    panic!("{waits} does not hold the join");
                };
                // Time alone does not let it go on.
                world.later(&flow, LATER).await;
                assert!(matches!(next(&world, &run).await, Next::Waits(_)));
                let token = &token_of(&waiting);
                answer(&world, token, WaitAction::Resume, json!({})).await;
                let ended = ends(&world, &run, &["after"]).await;
                assert_eq!(ended.run.status, WorkflowRunStatus::Succeeded);
            }
        }
    }
}

#[tokio::test]
async fn c11_a_wait_that_nobody_answers_ends_as_the_workflow_says() {
    let world = World::new().await;
    for (on_timeout, steps, status) in [
        ("cancel", &[][..], WorkflowRunStatus::Cancelled),
        ("continue", &["after"], WorkflowRunStatus::Succeeded),
        ("fail", &["alarm"], WorkflowRunStatus::Failed),
    ] {
        let on_timeout = format!("on_timeout: {on_timeout}");
        let ask = block("ask", "wait", &["timeout: 30m", &on_timeout]);
        let handler = format!("on_error:\n{}", step("alarm", &[]));
        let flow = Flow::with(&handler, &[ask, step("after", &[])]);
        let flow = flow.id(&world).await;
        let run = world.start_run(&flow, json!({})).await;
        let waiting = world.run_that(&run, WorkflowRunStatus::Waiting).await;
        let token = token_of(&waiting);
        world.later(&flow, Duration::from_mins(29)).await;
        assert!(matches!(next(&world, &run).await, Next::Waits(_)));
        world.later(&flow, Duration::from_mins(1)).await;
        let ended = ends(&world, &run, steps).await;
        assert_eq!(ended.run.status, status, "{on_timeout}");
        let late = answer(&world, &token, WaitAction::Resume, json!({})).await;
        assert_eq!(late, WaitAnswer::Ended);
        let errors = events(&world, &flow, Some("$errors")).await;
        let names: Vec<&Value> = errors.iter().map(|error| &error["error"]["name"]).collect();
        match status {
            WorkflowRunStatus::Failed => assert_eq!(names, ["WaitTimedOut"]),
            _ => assert_eq!(names, [&Value::Null; 0], "{on_timeout}"),
        }
    }
}

#[tokio::test]
async fn c11_a_wait_that_fails_is_handled_as_any_step() {
    let (world, notes) = (World::new().await, Notes::default());
    notes.on(&world, &["mend", "after"]);
    let mend = step("mend", &[]);
    let handler = format!("on_error:\n{}", super::indented(&mend, 2));
    let handler: Vec<&str> = handler.lines().collect();
    let more = [&["timeout: 30m", "on_timeout: fail"], &handler[..]].concat();
    let flow = Flow::of(&[block("ask", "wait", &more), step("after", &[])]);
    let flow = flow.id(&world).await;
    let run = world.start_run(&flow, json!({})).await;
    world.run_that(&run, WorkflowRunStatus::Waiting).await;
    world.later(&flow, Duration::from_mins(30)).await;
    let ended = world.succeeded(&run).await;
    assert_eq!(notes.take(), ["ask.on_error.mend", "after"]);
    assert_eq!(returned(&ended, "ask"), Value::Null);
}
