//! Handlers: lists of steps that run after a failure, of steps, of blocks and of the workflow.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    harness::{Script, Story},
    succeeded,
};
use crate::run::{FlowCall, PlaceStatus, RunEnd};

fn error(message: &str) -> Value {
    json!({ "name": "Error", "message": message, "code": null })
}

fn failed_at(end: &RunEnd) -> (String, &str) {
    match end {
        RunEnd::Failed { at, failure } => (at.to_string(), failure.error.message.as_str()),
        other => panic!("it did not fail: {other:?}"),
    }
}

#[test]
fn the_steps_of_a_handler_see_the_failed_step_and_each_other() {
    let text = "steps:
- namespace: before
- namespace: a
  on_error: [{ namespace: mend }, { namespace: tell }]
- namespace: b
";
    let script = Script::new().returning_names().throws("a", "no");
    let mut story = Story::of(text, script);
    assert_eq!(story.run(), succeeded());
    assert_eq!(
        story.calls(),
        ["before", "a", "a.on_error.mend", "a.on_error.tell", "b"]
    );
    let before = json!({ "$return_value": "before" });
    let a = json!({ "$error": error("no") });
    let mend = json!({ "$return_value": "mend" });
    assert_eq!(
        story.scope_of("a.on_error.tell"),
        json!({ "before": before, "a": a, "mend": mend })
    );
    assert_eq!(story.scope_of("b"), json!({ "before": before, "a": a }));
}

#[test]
fn a_failure_within_a_handler_fails_the_run_there() {
    let text = "steps:
- namespace: a
  on_error: [{ namespace: mend }, { namespace: tell }]
- namespace: b
";
    let script = Script::new()
        .throws("a", "one")
        .throws("a.on_error.mend", "two");
    let mut story = Story::of(text, script);
    assert_eq!(
        failed_at(&story.run()),
        ("a.on_error.mend".to_owned(), "two")
    );
    assert_eq!(story.calls(), ["a", "a.on_error.mend"]);
}

#[test]
fn a_handler_may_have_a_handler() {
    let text = "steps:
- namespace: a
  on_error:
  - namespace: mend
    on_error: [{ namespace: tell }]
- namespace: b
";
    let script = Script::new()
        .throws("a", "one")
        .throws("a.on_error.mend", "two");
    let mut story = Story::of(text, script);
    assert_eq!(story.run(), succeeded());
    let tell = "a.on_error.mend.on_error.tell";
    assert_eq!(story.calls(), ["a", "a.on_error.mend", tell, "b"]);
    assert_eq!(
        story.scope_of(tell),
        json!({ "a": { "$error": error("one") }, "mend": { "$error": error("two") } })
    );
}

#[test]
fn a_handler_runs_once_all_tries_have_failed() {
    let text = "steps:
- namespace: a
  retry: { attempts: 2, initial: 1s, jitter: false }
  on_error: [{ namespace: mend }]
";
    let script = Script::new().throws("a", "one").throws("a", "two");
    let mut story = Story::of(text, script);
    story.end("a");
    assert_eq!(story.waits_for(), Some(Duration::from_secs(1)));
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["a", "a", "a.on_error.mend"]);
    assert_eq!(
        story.scope_of("a.on_error.mend"),
        json!({ "a": { "$error": error("two") } })
    );
}

#[test]
fn a_block_has_a_handler_for_everything_in_it() {
    let text = "steps:
- namespace: route
  type: ifelse
  branches: [{ name: x, if: true, steps: [{ namespace: a }, { namespace: b }] }]
  on_error: [{ namespace: mend }]
- namespace: after
";
    let script = Script::new()
        .answers("route", json!([0]))
        .throws("route.x.a", "no");
    let mut story = Story::of(text, script);
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["route.x.a", "route.on_error.mend", "after"]);
    let scope = json!({ "route": { "$error": error("no") } });
    assert_eq!(story.scope_of("route.on_error.mend"), scope);
    assert_eq!(story.scope_of("after"), scope);
}

#[test]
fn a_handler_in_a_loop_mends_one_item() {
    let text = "steps:
- namespace: each
  type: loop
  over: '{{items}}'
  steps:
  - namespace: work
    on_error: [{ namespace: mend }]
- namespace: after
";
    let script = Script::new()
        .answers("each", json!([[1, 2]]))
        .returning_paths()
        .throws("each[0].work", "no");
    let mut story = Story::of(text, script);
    assert_eq!(story.run(), succeeded());
    let mend = "each[0].work.on_error.mend";
    assert_eq!(
        story.calls(),
        ["each[0].work", mend, "each[1].work", "after"]
    );
    let scope = json!({ "each": { "$return_value": [null, "each[1].work"] } });
    assert_eq!(story.scope_of("after"), scope);
}

#[test]
fn a_failure_that_a_handler_could_not_mend_is_the_result_under_settle() {
    let text = "steps:
- namespace: fan
  type: parallel
  mode: settle
  branches:
  - { name: x, steps: [{ namespace: a, on_error: [{ namespace: mend }] }] }
  - { name: y, steps: [{ namespace: b, on_error: continue }] }
- namespace: after
";
    let script = Script::new()
        .throws("fan.x.a", "one")
        .throws("fan.x.a.on_error.mend", "two")
        .throws("fan.y.b", "three");
    let mut story = Story::of(text, script);
    assert_eq!(story.run(), succeeded());
    let value = json!({ "x": { "$error": error("two") }, "y": { "$error": error("three") } });
    assert_eq!(
        story.scope_of("after"),
        json!({ "fan": { "$return_value": value } })
    );
}

#[test]
fn the_handler_of_the_workflow_sees_its_own_steps_alone() {
    let text = "steps: [{ namespace: a }, { namespace: b }]
on_error: [{ namespace: alarm }, { namespace: page }]
";
    let script = Script::new().returning_names().throws("b", "no");
    let mut story = Story::of(text, script);
    assert_eq!(failed_at(&story.run()), ("b".to_owned(), "no"));
    assert_eq!(story.calls(), ["a", "b", "on_error.alarm", "on_error.page"]);
    let scope = json!({ "alarm": { "$return_value": "alarm" } });
    assert_eq!(story.scope_of("on_error.page"), scope);
}

#[test]
fn the_handler_of_the_workflow_waits_and_is_tried_again_as_any_step() {
    let text = "settings: { auto_retry: { attempts: 2, initial: 1s, jitter: false } }
steps: [{ namespace: a, retry: { attempts: 1 } }]
on_error: [{ namespace: alarm }, { namespace: hold, type: delay, for: 1h }, { namespace: page }]
";
    let script = Script::new()
        .throws("a", "no")
        .throws("on_error.alarm", "busy");
    let mut story = Story::of(text, script);
    story.end("a");
    story.end("on_error.alarm");
    assert_eq!(story.waits_for(), Some(Duration::from_secs(1)));
    story.pass(Duration::from_secs(1));
    story.end("on_error.alarm");
    assert_eq!(story.waits_for(), Some(Duration::from_hours(1)));
    assert_eq!(failed_at(&story.run()), ("a".to_owned(), "no"));
    assert_eq!(
        story.calls(),
        ["a", "on_error.alarm", "on_error.alarm", "on_error.page"]
    );
}

#[test]
fn nothing_that_a_handler_of_the_workflow_does_changes_the_failure() {
    let text = "steps: [{ namespace: a }]\non_error: [{ namespace: alarm }, { namespace: page }]\n";
    let scripts = [
        Script::new().exits("on_error.alarm", "enough"),
        Script::new().throws("on_error.alarm", "busy"),
    ];
    for script in scripts {
        let mut story = Story::of(text, script.throws("a", "no"));
        assert_eq!(failed_at(&story.run()), ("a".to_owned(), "no"));
        assert_eq!(story.calls(), ["a", "on_error.alarm"]);
    }
}

#[test]
fn a_run_can_be_cancelled_while_its_handler_waits() {
    let text = "steps: [{ namespace: a }]\non_error: [{ namespace: alarm }]\n";
    let suspend = FlowCall::Suspend(Duration::from_mins(1));
    let script = Script::new()
        .throws("a", "no")
        .pauses("on_error.alarm", suspend);
    let mut story = Story::of(text, script);
    story.end("a");
    story.end("on_error.alarm");
    story.cancel("enough");
    let reason = "enough".to_owned();
    assert_eq!(story.run(), RunEnd::Cancelled { reason });
    assert_eq!(story.status("on_error.alarm"), PlaceStatus::Cancelled);
}
