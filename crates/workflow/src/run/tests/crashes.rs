//! The node dies between two commits.

use std::time::Duration;

use serde_json::json;

use super::{
    BRANCHES, each,
    harness::{Script, Story},
    parallel,
};
use crate::run::{FlowCall, RunEnd};

/// Waits, tries, handlers and loops within each other.
const EVERYTHING: &str = "
steps:
- namespace: first
  retry: { attempts: 3, initial: 1s, jitter: false }
- namespace: hold
  type: delay
  for: 1h
- namespace: again
  type: loop
  while: '{{more}}'
  steps:
  - namespace: round
    on_error: [{ namespace: mend }]
- namespace: outer
  type: loop
  over: '{{items}}'
  concurrency: 2
  mode: settle
  steps:
  - namespace: fan
    type: parallel
    mode: settle
    branches:
    - { name: x, steps: [{ namespace: a }] }
    - { name: y, if: '{{b}}', steps: [{ namespace: c }, { namespace: d }] }
- namespace: wait
  type: wait
  timeout: 1h
  on_timeout: continue
- namespace: bad
on_error: [{ namespace: alarm }, { namespace: page }]
";

fn script() -> Script {
    Script::new()
        .returning_paths()
        .answers("route", json!([1]))
        .answers("each", json!([[1, 2, 3, 4]]))
        .throws("fan.left.l2", "no")
        .throws("each[2].work", "no")
        .throws("first", "once")
        .throws("first", "twice")
        .answers("again", json!([true]))
        .answers("again", json!([true]))
        .answers("again", json!([false]))
        .throws("again[1].round", "no")
        .answers("outer", json!([[1, 2, 3]]))
        .answers("outer[0].fan", json!([true]))
        .answers("outer[1].fan", json!([false]))
        .answers("outer[2].fan", json!([true]))
        .throws("outer[0].fan.y.c", "no")
        .pauses("outer[2].fan.x.a", FlowCall::Delay(Duration::from_mins(1)))
        .throws("bad", "no")
}

/// Each workflow runs to the same end, with the same committed steps, however often the node dies.
#[test]
fn a_crash_after_any_commit_changes_nothing() {
    let (loops, branches) = (each(2, "settle"), parallel("settle"));
    for text in [BRANCHES, &branches, &loops, EVERYTHING] {
        let mut straight = Story::of(text, script());
        let end = straight.run();
        for every in 1..8 {
            let mut story = Story::of(text, script());
            assert_eq!(story.run_with_crashes(every), end, "{text}, {every}");
            assert_eq!(story.committed(), straight.committed(), "{text}, {every}");
        }
    }
}

#[test]
fn the_story_with_everything_fails_where_it_is_to() {
    let mut story = Story::of(EVERYTHING, script());
    let RunEnd::Failed { at, .. } = story.run() else {
        panic!("it fails");
    };
    assert_eq!(at.to_string(), "bad");
    let calls = story.calls();
    assert_eq!(calls[..3], ["first"; 3]);
    assert_eq!(
        calls[calls.len() - 2..],
        ["on_error.alarm", "on_error.page"]
    );
    assert!(calls.contains(&"again[1].round.on_error.mend"));
    assert_eq!(
        story.scope_of("bad")["outer"]["$return_value"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

/// Under `fail_fast` a step that ran beside the failing one may have come to its end or not; a crash decides that it
/// did not, and begins nothing again.
#[test]
fn a_crash_begins_nothing_that_a_failure_has_stopped() {
    let text = parallel("fail_fast");
    let mut straight = Story::of(&text, script());
    let end = straight.run();
    for every in 1..8 {
        let mut story = Story::of(&text, script());
        assert_eq!(story.run_with_crashes(every), end, "{every}");
        let committed = story.committed();
        assert!(
            committed.iter().all(|(_, status, _)| status.is_final()),
            "{committed:?}"
        );
        let mut calls = story.calls();
        calls.dedup();
        let is_after = |call: &&str| **call == *"after";
        assert!(!calls.iter().any(is_after), "{calls:?}");
    }
    let mut story = Story::of(&text, Script::new().throws("fan.left.l1", "no"));
    story.end("fan.left.l1");
    story.crash();
    assert_eq!(story.calls(), ["fan.left.l1", "fan.right.r1"]);
    assert!(matches!(story.run(), RunEnd::Failed { .. }));
}

#[test]
fn a_resolution_that_came_early_survives_a_crash() {
    let suspend = || FlowCall::Suspend(Duration::from_mins(1));
    let text = "steps: [{ namespace: a }, { namespace: b }]\n";
    let script = Script::new().pauses("a", suspend());
    let mut story = Story::of(text, script);
    story.resolve("a", 0, crate::run::Resolution::Resume(None));
    story.crash();
    assert_eq!(story.pending(), ["a"], "it runs again");
    story.end("a");
    assert_eq!(story.pending(), ["b"]);
}

#[test]
fn an_answer_to_a_wait_ahead_survives_a_crash() {
    let text = "steps: [{ namespace: a }, { namespace: w, type: wait }, { namespace: b }]\n";
    let mut story = Story::of(text, Script::new());
    story.resolve("w", 0, crate::run::Resolution::Resume(None));
    story.crash();
    story.end("a");
    assert_eq!(story.pending(), ["b"]);
}
