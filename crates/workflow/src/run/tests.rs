//! Runs of whole workflows by a scripted executor: what runs, in which order, with which result; and the same with a
//! crash after each commit.

mod calls;
mod crashes;
mod handlers;
mod harness;
mod replays;
mod stops;

use std::time::Duration;

use serde_json::json;

use self::harness::{Script, Story};
use super::{
    Cause, Closing, Failure, FlowCall, PHASES_MAX, PlaceStatus, Resolution, Resolved, RunEnd,
    State, WaitKind,
};

fn succeeded() -> RunEnd {
    RunEnd::Succeeded { reason: None }
}

#[test]
fn steps_run_one_after_the_other_and_see_earlier_results() {
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n- namespace: c\n",
        Script::new()
            .returns("a", json!(1))
            .returns("b", json!({"x": [2]})),
    );
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["a", "b", "c"]);
    assert_eq!(
        story.scope_of("c"),
        json!({ "a": { "$return_value": 1 }, "b": { "$return_value": { "x": [2] } } })
    );
}

#[test]
fn a_disabled_step_and_one_whose_condition_does_not_hold_leave_nothing() {
    let mut story = Story::of(
        "steps:\n- namespace: a\n  disabled: true\n- namespace: b\n  if: '{{no}}'\n- namespace: c\n",
        Script::new().skips("b"),
    );
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["b", "c"]);
    assert_eq!(story.scope_of("c"), json!({}));
    assert_eq!(story.status("b"), PlaceStatus::Skipped);
}

const BRANCHES: &str = "
steps:
- namespace: route
  type: ifelse
  branches:
  - name: large
    if: '{{large}}'
    steps: [{ namespace: big }, { namespace: bigger }]
  - name: small
    if: '{{small}}'
    steps: [{ namespace: little }]
  else: [{ namespace: other }]
- namespace: after
";

#[test]
fn the_first_branch_that_holds_is_taken_and_gives_the_result() {
    for (answer, expected, result) in [
        (
            json!(0),
            vec!["route.large.big", "route.large.bigger"],
            json!({ "$return_value": "bigger" }),
        ),
        (
            json!(1),
            vec!["route.small.little"],
            json!({ "$return_value": "little" }),
        ),
        (
            json!(null),
            vec!["route.else.other"],
            json!({ "$return_value": "other" }),
        ),
    ] {
        let script = Script::new().answers("route", json!([answer]));
        let mut story = Story::of(BRANCHES, script.returning_names());
        assert_eq!(story.run(), succeeded());
        assert_eq!(story.calls(), [expected, vec!["after"]].concat());
        assert_eq!(
            story.scope_of("after"),
            json!({ "route": { "$return_value": result } })
        );
    }
}

const SWITCH: &str = "
steps:
- namespace: pick
  type: switch
  on: '{{steps.trigger.event.kind}}'
  cases:
  - name: one
    equals: 1
    steps: [{ namespace: first }]
- namespace: after
";

#[test]
fn without_a_matching_case_and_default_the_run_goes_on_behind_the_switch() {
    let mut story = Story::of(SWITCH, Script::new().answers("pick", json!([null])));
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["after"]);
    assert_eq!(story.scope_of("after"), json!({ "pick": {} }));
}

fn parallel(mode: &str) -> String {
    format!(
        "
steps:
- namespace: fan
  type: parallel
  mode: {mode}
  branches:
  - name: left
    steps: [{{ namespace: l1 }}, {{ namespace: l2 }}]
  - name: right
    steps: [{{ namespace: r1 }}, {{ namespace: r2 }}]
- namespace: after
"
    )
}

#[test]
fn branches_run_side_by_side_and_join() {
    let mut story = Story::of(&parallel("settle"), Script::new().returning_names());
    assert_eq!(story.pending(), ["fan.left.l1", "fan.right.r1"]);
    assert_eq!(story.run(), succeeded());
    assert_eq!(
        story.scope_of("after"),
        json!({ "fan": { "$return_value": { "left": { "$return_value": "l2" }, "right": { "$return_value": "r2" } } } })
    );
    assert_eq!(
        story.scope_of("fan.right.r2"),
        json!({ "r1": { "$return_value": "r1" } })
    );
}

#[test]
fn under_settle_a_failed_branch_is_a_result() {
    let script = Script::new().returning_names().throws("fan.left.l1", "no");
    let mut story = Story::of(&parallel("settle"), script);
    assert_eq!(story.run(), succeeded());
    let error = json!({ "name": "Error", "message": "no", "code": null });
    assert_eq!(
        story.scope_of("after"),
        json!({ "fan": { "$return_value": { "left": { "$error": error }, "right": { "$return_value": "r2" } } } })
    );
}

#[test]
fn under_fail_fast_running_steps_end_and_nothing_further_begins() {
    let script = Script::new().throws("fan.left.l1", "no");
    let mut story = Story::of(&parallel("fail_fast"), script);
    story.end("fan.left.l1");
    assert_eq!(story.pending(), ["fan.right.r1"], "it is not abandoned");
    let RunEnd::Failed { at, failure } = story.run() else {
        panic!("it fails");
    };
    assert_eq!(
        (at.to_string().as_str(), failure.error.message.as_str()),
        ("fan", "no")
    );
    assert_eq!(story.calls(), ["fan.left.l1", "fan.right.r1"]);
    assert_eq!(story.status("fan.right.r1"), PlaceStatus::Succeeded);
}

fn each(concurrency: u32, mode: &str) -> String {
    format!(
        "
steps:
- namespace: each
  type: loop
  over: '{{{{items}}}}'
  as: thing
  concurrency: {concurrency}
  mode: {mode}
  steps: [{{ namespace: work }}]
- namespace: after
"
    )
}

#[test]
fn a_loop_gives_results_in_the_order_of_its_items_however_they_end() {
    let script = Script::new()
        .answers("each", json!([["a", "b", "c"]]))
        .returning_paths();
    let mut story = Story::of(&each(2, "fail_fast"), script);
    assert_eq!(
        story.pending(),
        ["each[0].work", "each[1].work"],
        "two at once"
    );
    assert_eq!(
        story.scope_of("each[1].work"),
        json!({ "each": { "index": 1, "thing": "b", "item": "b" } })
    );
    story.end("each[1].work");
    assert_eq!(story.pending(), ["each[0].work", "each[2].work"]);
    story.end("each[2].work");
    assert_eq!(story.run(), succeeded());
    assert_eq!(
        story.scope_of("after"),
        json!({ "each": { "$return_value": ["each[0].work", "each[1].work", "each[2].work"] } })
    );
}

#[test]
fn a_loop_over_nothing_ends_at_once() {
    let mut story = Story::of(
        &each(1, "fail_fast"),
        Script::new().answers("each", json!([[]])),
    );
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["after"]);
    assert_eq!(
        story.scope_of("after"),
        json!({ "each": { "$return_value": [] } })
    );
}

#[test]
fn a_loop_over_something_else_than_an_array_fails_by_name() {
    let mut story = Story::of(
        &each(1, "fail_fast"),
        Script::new().answers("each", json!([{"a": 1}])),
    );
    let RunEnd::Failed { failure, .. } = story.run() else {
        panic!("it fails");
    };
    assert!(
        failure.error.message.contains("not an array"),
        "{failure:?}"
    );
}

#[test]
fn a_failing_item_ends_the_loop_or_is_a_result() {
    let script = || {
        Script::new()
            .answers("each", json!([[1, 2, 3]]))
            .returning_paths()
            .throws("each[1].work", "no")
    };
    let mut fast = Story::of(&each(1, "fail_fast"), script());
    assert!(matches!(fast.run(), RunEnd::Failed { .. }));
    assert_eq!(fast.calls(), ["each[0].work", "each[1].work"]);
    let mut settled = Story::of(&each(1, "settle"), script());
    assert_eq!(settled.run(), succeeded());
    let error = json!({ "$error": { "name": "Error", "message": "no", "code": null } });
    assert_eq!(
        settled.scope_of("after"),
        json!({ "each": { "$return_value": ["each[0].work", error, "each[2].work"] } })
    );
}

#[test]
fn a_while_loop_asks_before_each_round() {
    let text = "
steps:
- namespace: again
  type: loop
  while: '{{more}}'
  steps: [{ namespace: work }]
- namespace: after
";
    let script = Script::new()
        .answers("again", json!([true]))
        .answers("again", json!([true]))
        .answers("again", json!([false]))
        .returning_paths();
    let mut story = Story::of(text, script);
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["again[0].work", "again[1].work", "after"]);
    assert_eq!(
        story.scope_of("after"),
        json!({ "again": { "$return_value": ["again[0].work", "again[1].work"] } })
    );
}

#[test]
fn an_error_is_tried_again_with_growing_pauses() {
    let text = "
steps:
- namespace: a
  retry: { attempts: 3, initial: 2s, factor: 3, max: 5s, jitter: false }
";
    let script = Script::new()
        .throws("a", "1")
        .throws("a", "2")
        .returns("a", json!("ok"));
    let mut story = Story::of(text, script);
    story.end("a");
    assert_eq!(story.waits_for(), Some(Duration::from_secs(2)));
    assert_eq!(story.executions("a"), 2, "the next one is due");
    story.pass(Duration::from_secs(2));
    story.end("a");
    assert_eq!(
        story.waits_for(),
        Some(Duration::from_secs(5)),
        "not beyond `max`"
    );
    story.pass(Duration::from_secs(5));
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["a", "a", "a"]);
    assert_eq!(story.executions("a"), 3);
    let spans = |story: &Story| {
        let phases = story.place("a").phases().into_iter();
        let spans = phases.map(|phase| {
            let ended_at_ms = phase.ended_at_ms.expect("the step has ended");
            (phase.wait, ended_at_ms.since(phase.started_at_ms))
        });
        spans.collect::<Vec<_>>()
    };
    let ran = (None, Duration::ZERO);
    let waited = |seconds| (Some(WaitKind::Retry), Duration::from_secs(seconds));
    assert_eq!(spans(&story), [ran, waited(2), ran, waited(5), ran]);
}

#[test]
fn the_newest_executions_and_waits_of_a_place_are_kept() {
    let again = FlowCall::Rerun {
        after: Duration::from_secs(1),
        context: None,
        max_retries: 100,
    };
    let script = (0..60).fold(Script::new(), |script, _| script.pauses("a", again.clone()));
    let mut story = Story::of("steps:\n- namespace: a\n", script);
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.executions("a"), 61);
    let phases = story.place("a").phases();
    assert_eq!(phases.len(), PHASES_MAX);
    assert_eq!(phases.last().unwrap().wait, None);
    assert_eq!(
        phases.last().unwrap().ended_at_ms,
        story.place("a").ended_at_ms
    );
}

#[test]
fn a_configuration_error_is_not_tried_again() {
    let text = "steps:\n- namespace: a\n  retry: { attempts: 5 }\n";
    let failure = Failure::stated(Cause::Configuration, "ConfigurationError", "no account");
    let mut story = Story::of(text, Script::new().fails("a", failure));
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert_eq!(story.calls(), ["a"]);
    assert_eq!(story.executions("a"), 1);
}

#[test]
fn a_lost_worker_is_not_a_try_but_three_are_enough() {
    let lost = || Failure::stated(Cause::WorkerLost, "WorkerLostError", "gone");
    let script = (0..4).fold(Script::new(), |script, _| script.fails("a", lost()));
    let mut story = Story::of("steps:\n- namespace: a\n", script);
    let RunEnd::Failed { failure, .. } = story.run() else {
        panic!("it fails");
    };
    assert_eq!(failure.cause, Cause::WorkerLost);
    assert_eq!(story.calls().len(), 4);
}

#[test]
fn after_a_handled_failure_the_run_goes_on_behind_the_step() {
    for (on_error, expected) in [
        ("continue", vec!["a", "b"]),
        ("[{ namespace: mend }]", vec!["a", "a.on_error.mend", "b"]),
    ] {
        let text = format!("steps:\n- namespace: a\n  on_error: {on_error}\n- namespace: b\n");
        let mut story = Story::of(&text, Script::new().throws("a", "no"));
        assert_eq!(story.run(), succeeded());
        assert_eq!(story.calls(), expected);
        let error = json!({ "name": "Error", "message": "no", "code": null });
        assert_eq!(story.scope_of("b"), json!({ "a": { "$error": error } }));
        assert_eq!(story.status("a"), PlaceStatus::Failed);
    }
}

#[test]
fn the_handler_of_the_workflow_runs_once_and_the_run_has_failed() {
    let text = "steps:\n- namespace: a\n- namespace: b\non_error:\n- namespace: alarm\n";
    let mut story = Story::of(text, Script::new().throws("a", "no"));
    let RunEnd::Failed { at, .. } = story.run() else {
        panic!("it fails");
    };
    assert_eq!(at.to_string(), "a");
    assert_eq!(story.calls(), ["a", "on_error.alarm"]);
}

#[test]
fn exit_ends_the_run_well_with_its_reason() {
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n",
        Script::new().exits("a", "draft"),
    );
    assert_eq!(
        story.run(),
        RunEnd::Succeeded {
            reason: Some("draft".to_owned())
        }
    );
    assert_eq!(story.calls(), ["a"]);
}

#[test]
fn exit_in_a_branch_lets_running_steps_end_and_cancels_waits() {
    let script = Script::new().exits("fan.left.l1", "done");
    let mut story = Story::of(&parallel("settle"), script);
    story.end("fan.left.l1");
    assert_eq!(story.pending(), ["fan.right.r1"]);
    assert_eq!(
        story.run(),
        RunEnd::Succeeded {
            reason: Some("done".to_owned())
        }
    );
    assert_eq!(story.calls(), ["fan.left.l1", "fan.right.r1"]);
    assert_eq!(story.status("fan"), PlaceStatus::Succeeded);
}

#[test]
fn a_delay_waits_without_anything_at_work() {
    let call = FlowCall::Delay(Duration::from_secs(60));
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n",
        Script::new().pauses("a", call),
    );
    story.end("a");
    assert_eq!(story.waits_for(), Some(Duration::from_secs(60)));
    story.pass(Duration::from_secs(59));
    assert_eq!(story.pending(), [""; 0]);
    story.pass(Duration::from_secs(1));
    assert_eq!(story.pending(), ["b"]);
}

#[test]
fn a_suspended_step_goes_on_with_the_request_and_a_second_call_changes_nothing() {
    let call = FlowCall::Suspend(Duration::from_secs(60));
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n",
        Script::new().pauses("a", call),
    );
    story.end("a");
    let request = || Resolution::Resume(Some(super::Kept::of(&json!({ "body": "yes" }))));
    assert_eq!(story.resolve("a", 0, request()), Resolved::Now);
    assert_eq!(story.resolve("a", 0, Resolution::Cancel), Resolved::Before);
    assert_eq!(story.run(), succeeded());
    assert_eq!(
        story.scope_of("b"),
        json!({ "a": { "$resume_data": { "body": "yes" } } })
    );
}

#[test]
fn a_resolution_that_comes_while_the_step_runs_counts_at_its_end() {
    let call = FlowCall::Suspend(Duration::from_secs(60));
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n",
        Script::new().pauses("a", call),
    );
    assert_eq!(
        story.resolve("a", 0, Resolution::Resume(None)),
        Resolved::AtItsEnd
    );
    assert_eq!(
        story.resolve("a", 0, Resolution::Resume(None)),
        Resolved::Before
    );
    story.end("a");
    assert_eq!(story.pending(), ["b"]);
}

#[test]
fn a_suspended_step_that_nobody_resumes_cancels_the_run() {
    let call = FlowCall::Suspend(Duration::from_secs(60));
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n",
        Script::new().pauses("a", call),
    );
    story.end("a");
    story.pass(Duration::from_secs(60));
    assert!(matches!(story.run(), RunEnd::Cancelled { .. }));
}

#[test]
fn a_rerun_runs_the_step_again_and_its_first_url_stays_good() {
    let again = || FlowCall::Rerun {
        after: Duration::from_secs(1),
        context: Some(super::Kept::of(&json!(7))),
        max_retries: 5,
    };
    let script = Script::new()
        .pauses("a", again())
        .pauses("a", again())
        .returns("a", json!("done"));
    let mut story = Story::of("steps:\n- namespace: a\n", script);
    story.end("a");
    story.pass(Duration::from_secs(1));
    story.end("a");
    assert_eq!(
        story.resolve(
            "a",
            0,
            Resolution::Resume(Some(super::Kept::of(&json!("cb"))))
        ),
        Resolved::Now
    );
    let rerun = story.place("a").rerun.clone().unwrap();
    assert_eq!(
        (rerun.runs, rerun.callback_request),
        (3, Some(super::Kept::of(&json!("cb"))))
    );
    assert_eq!(rerun.context, Some(super::Kept::of(&json!(7))));
    assert_eq!(
        story.resolve("a", 0, Resolution::Resume(None)),
        Resolved::Before,
        "it was answered"
    );
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["a", "a", "a"]);
    assert_eq!(story.executions("a"), 3);
}

#[test]
fn beyond_its_retries_a_rerun_goes_on_without_an_error() {
    let again = || FlowCall::Rerun {
        after: Duration::from_secs(1),
        context: None,
        max_retries: 1,
    };
    let mut story = Story::of(
        "steps:\n- namespace: a\n- namespace: b\n",
        Script::new().pauses("a", again()).pauses("a", again()),
    );
    story.end("a");
    story.pass(Duration::from_secs(1));
    story.end("a");
    assert_eq!(story.pending(), ["b"]);
}

#[test]
fn a_wait_that_nobody_answers_ends_as_it_says() {
    for (on_timeout, expected) in [
        ("continue", "succeeded"),
        ("fail", "failed"),
        ("cancel", "cancelled"),
    ] {
        let text = format!(
            "steps:\n- namespace: hold\n  type: wait\n  timeout: 1h\n  on_timeout: {on_timeout}\n- namespace: b\n"
        );
        let mut story = Story::of(&text, Script::new());
        assert_eq!(story.waits_for(), Some(Duration::from_secs(3600)));
        story.pass(Duration::from_secs(3600));
        let end = match story.run() {
            RunEnd::Succeeded { .. } => "succeeded",
            RunEnd::Failed { .. } => "failed",
            RunEnd::Cancelled { .. } => "cancelled",
        };
        assert_eq!(end, expected);
    }
}

#[test]
fn a_wait_in_a_branch_holds_the_join() {
    let call = FlowCall::Suspend(Duration::from_secs(60));
    let script = Script::new().pauses("fan.left.l2", call);
    let mut story = Story::of(&parallel("settle"), script);
    for step in ["fan.left.l1", "fan.right.r1", "fan.right.r2", "fan.left.l2"] {
        story.end(step);
    }
    assert_eq!(story.pending(), [""; 0]);
    assert_eq!(story.status("fan"), PlaceStatus::Running);
    story.resolve("fan.left.l2", 0, Resolution::Resume(None));
    assert_eq!(story.pending(), ["after"]);
}

#[test]
fn an_answer_ahead_counts_for_waits_that_running_steps_know() {
    let text = "steps:\n- namespace: each\n  type: loop\n  over: '{{x}}'\n  mode: settle\n  steps: [{ namespace: a }, { namespace: w, type: wait }]\n";
    let script = Script::new()
        .answers("each", json!([[1, 2, 3]]))
        .throws("each[0].a", "no");
    let mut story = Story::of(text, script);
    let resume = || Resolution::Resume(None);
    assert_eq!(story.pending(), ["each[0].a"]);
    for later in ["each[1].w", "each[9].w"] {
        assert_eq!(story.resolve(later, 0, resume()), Resolved::Before);
    }
    assert_eq!(story.resolve("each[0].w", 0, resume()), Resolved::AtItsEnd);
    assert_eq!(story.resolve("each[0].w", 0, resume()), Resolved::Before);
    story.end("each[0].a");
    assert_eq!(story.resolve("each[0].w", 0, resume()), Resolved::Before);
    assert_eq!(story.resolve("each[1].w", 0, resume()), Resolved::AtItsEnd);
    assert_eq!(story.ahead(), ["each[1].w"], "the first item never asks");
    story.end("each[1].a");
    assert_eq!(story.status("each[1].w"), PlaceStatus::Succeeded);
    assert_eq!(story.pending(), ["each[2].a"]);
}

#[test]
fn a_cancelled_run_ends_at_once_and_late_results_change_nothing() {
    let mut story = Story::of("steps:\n- namespace: a\n- namespace: b\n", Script::new());
    story.cancel("enough");
    assert_eq!(
        story.state(),
        State::Ended(RunEnd::Cancelled {
            reason: "enough".to_owned()
        })
    );
    story.end("a");
    assert_eq!(story.status("a"), PlaceStatus::Cancelled);
    assert!(matches!(story.closing(), Some(Closing::Cancel { .. })));
}
