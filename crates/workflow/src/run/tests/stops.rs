//! Runs and blocks that end while something in them is under way.

use std::time::Duration;

use serde_json::json;

use super::{
    each,
    harness::{Script, Story},
    parallel, succeeded,
};
use crate::run::{FlowCall, PlaceStatus, Resolution, RunEnd, State};

const NESTED: &str = "
steps:
- namespace: fan
  type: parallel
  on_error: continue
  branches:
  - name: left
    steps: [{ namespace: l1 }]
  - name: right
    steps:
    - namespace: inner
      type: parallel
      branches: [{ name: x, steps: [{ namespace: r1 }, { namespace: r2 }] }]
- namespace: after
";

#[test]
fn a_failing_branch_leaves_no_block_open() {
    let mut story = Story::of(NESTED, Script::new().throws("fan.left.l1", "no"));
    story.end("fan.left.l1");
    assert_eq!(story.pending(), ["fan.right.inner.x.r1"]);
    story.end("fan.right.inner.x.r1");
    assert_eq!(story.pending(), ["after"]);
    assert_eq!(story.status("fan"), PlaceStatus::Failed);
    assert_eq!(story.status("fan.right.inner"), PlaceStatus::Cancelled);
    assert_eq!(story.status("fan.right.inner.x.r1"), PlaceStatus::Succeeded);
    assert_eq!(story.run(), succeeded());
}

#[test]
fn a_failing_branch_cancels_the_waits_of_the_others() {
    let suspend = FlowCall::Suspend(Duration::from_mins(1));
    let script = Script::new()
        .pauses("fan.right.r1", suspend)
        .throws("fan.left.l1", "no");
    let mut story = Story::of(&parallel("fail_fast"), script);
    story.end("fan.right.r1");
    story.end("fan.left.l1");
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert_eq!(story.status("fan.right.r1"), PlaceStatus::Cancelled);
    let late = story.resolve("fan.right.r1", 0, Resolution::Resume(None));
    assert_eq!(late, crate::run::Resolved::Before);
}

#[test]
fn a_branch_that_ends_together_with_a_failing_one_begins_nothing_more() {
    let script = Script::new().throws("fan.left.l1", "no");
    let mut story = Story::of(&parallel("fail_fast"), script);
    story.end_both(["fan.left.l1", "fan.right.r1"]);
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert_eq!(story.calls(), ["fan.left.l1", "fan.right.r1"]);
}

#[test]
fn an_item_that_ends_together_with_a_failing_one_begins_nothing_more() {
    let text = each(2, "fail_fast").replace(
        "steps: [{ namespace: work }]",
        "steps: [{ namespace: work }, { namespace: more }]",
    );
    let script = Script::new()
        .answers("each", json!([[1, 2, 3]]))
        .throws("each[0].work", "no");
    let mut story = Story::of(&text, script);
    story.end_both(["each[0].work", "each[1].work"]);
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert_eq!(story.calls(), ["each[0].work", "each[1].work"]);
}

#[test]
fn items_that_run_beside_a_failing_one_come_to_their_end() {
    let script = Script::new()
        .answers("each", json!([[1, 2, 3, 4]]))
        .throws("each[1].work", "no");
    let mut story = Story::of(&each(3, "fail_fast"), script);
    story.end("each[1].work");
    assert_eq!(story.pending(), ["each[0].work", "each[2].work"]);
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert_eq!(story.calls().len(), 3, "the fourth never begins");
    assert_eq!(story.status("each[2].work"), PlaceStatus::Succeeded);
}

#[test]
fn an_end_in_a_branch_lets_no_other_branch_begin() {
    let text = "steps:
- namespace: fan
  type: parallel
  branches:
  - { name: x, steps: [{ namespace: stop, type: end }] }
  - { name: y, steps: [{ namespace: a }] }
";
    let mut story = Story::of(text, Script::new());
    assert!(matches!(story.run(), RunEnd::Succeeded { reason: Some(_) }));
    assert_eq!(story.calls(), [""; 0]);
    assert_eq!(story.status("fan"), PlaceStatus::Succeeded);
}

#[test]
fn an_end_beside_a_failed_step_ends_nothing() {
    let text = "steps:
- namespace: fan
  type: parallel
  branches:
  - { name: x, steps: [{ namespace: a }, { namespace: stop, type: end }] }
  - { name: y, steps: [{ namespace: c }] }
";
    let mut story = Story::of(text, Script::new().throws("fan.y.c", "no"));
    story.end_both(["fan.x.a", "fan.y.c"]);
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert!(!story.places().contains_key(&"fan.x.stop".parse().unwrap()));
}

#[test]
fn the_first_of_two_reasons_to_end_counts_and_a_cancellation_beats_both() {
    let script = Script::new()
        .exits("fan.left.l1", "one")
        .exits("fan.right.r1", "two");
    let mut story = Story::of(&parallel("settle"), script.clone());
    story.end("fan.right.r1");
    let reason = Some("two".to_owned());
    assert_eq!(story.run(), RunEnd::Succeeded { reason });
    let mut story = Story::of(&parallel("settle"), script);
    story.end("fan.right.r1");
    story.cancel("stop");
    let reason = "stop".to_owned();
    assert_eq!(story.run(), RunEnd::Cancelled { reason });
}

#[test]
fn a_failure_after_an_exit_does_not_undo_it() {
    let script = Script::new()
        .exits("fan.left.l1", "done")
        .throws("fan.right.r1", "no");
    let mut story = Story::of(&parallel("settle"), script);
    story.end("fan.left.l1");
    let reason = Some("done".to_owned());
    assert_eq!(story.run(), RunEnd::Succeeded { reason });
    assert_eq!(story.status("fan.right.r1"), PlaceStatus::Failed);
}

#[test]
fn waits_are_due_in_their_order() {
    let delay = |seconds| FlowCall::Delay(Duration::from_secs(seconds));
    let script = Script::new()
        .pauses("fan.left.l1", delay(20))
        .pauses("fan.right.r1", delay(10));
    let mut story = Story::of(&parallel("settle"), script);
    story.end("fan.left.l1");
    story.end("fan.right.r1");
    assert_eq!(story.waits_for(), Some(Duration::from_secs(10)));
    story.pass(Duration::from_secs(10));
    assert_eq!(story.pending(), ["fan.right.r2"]);
    story.end("fan.right.r2");
    assert_eq!(story.waits_for(), Some(Duration::from_secs(10)));
    story.pass(Duration::from_secs(10));
    assert_eq!(story.pending(), ["fan.left.l2"]);
}

#[test]
fn a_branch_before_the_failed_one_begins_nothing_more() {
    let script = Script::new().throws("fan.right.r1", "no");
    let mut story = Story::of(&parallel("fail_fast"), script);
    story.end("fan.right.r1");
    story.end("fan.left.l1");
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
    assert_eq!(story.calls(), ["fan.left.l1", "fan.right.r1"]);
}

#[test]
fn a_step_that_pauses_beside_a_failed_one_is_not_waited_for() {
    let delay = FlowCall::Delay(Duration::from_secs(20));
    let script = Script::new()
        .answers("each", json!([[1, 2, 3]]))
        .pauses("each[0].work", delay)
        .throws("each[1].work", "no");
    let mut story = Story::of(&each(2, "fail_fast"), script);
    story.end("each[1].work");
    story.end("each[0].work");
    assert!(matches!(story.state(), State::Ended(RunEnd::Failed { .. })));
    assert_eq!(story.status("each[0].work"), PlaceStatus::Cancelled);
    assert_eq!(story.calls(), ["each[0].work", "each[1].work"]);
}

#[test]
fn an_item_that_waits_holds_one_place_of_the_loop() {
    let suspend = FlowCall::Suspend(Duration::from_hours(1));
    let script = Script::new()
        .returning_paths()
        .answers("each", json!([[1, 2, 3, 4]]))
        .pauses("each[0].work", suspend);
    let mut story = Story::of(&each(2, "fail_fast"), script);
    story.end("each[0].work");
    assert_eq!(story.pending(), ["each[1].work"], "a wait counts");
    for item in ["each[1].work", "each[2].work"] {
        story.end(item);
        story.crash();
    }
    assert_eq!(story.pending(), ["each[3].work"]);
    story.end("each[3].work");
    assert_eq!(story.pending(), [""; 0]);
    story.resolve("each[0].work", 0, Resolution::Resume(None));
    assert_eq!(story.run(), succeeded());
    assert_eq!(
        story.scope_of("after")["each"]["$return_value"],
        json!([null, "each[1].work", "each[2].work", "each[3].work"])
    );
}
