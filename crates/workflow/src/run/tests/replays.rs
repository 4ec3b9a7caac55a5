//! Replays from a step: a run that ended is done again from somewhere.

use serde_json::json;

use super::{
    BRANCHES, each,
    harness::{Script, Story},
    parallel, succeeded,
};
use crate::run::{Replay, ReplayError, RunEnd};

fn replay(first: &Story, from: &str) -> Result<Replay, ReplayError> {
    Replay::from_step(first.definition(), first.places(), &from.parse().unwrap())
}

/// Replays, and tells what is kept and what runs.
fn replayed(first: &Story, from: &str, script: Script) -> (Vec<String>, Story) {
    let replay = replay(first, from).unwrap();
    let kept = replay.kept.iter().map(ToString::to_string).collect();
    let mut story = Story::from_tree(replay.tree, script);
    story.run();
    (kept, story)
}

#[test]
fn what_came_before_the_step_is_kept_and_the_rest_done_again() {
    let script = || {
        let script = Script::new().answers("each", json!([[1, 2, 3]]));
        script.returning_paths()
    };
    let mut first = Story::of(&each(1, "fail_fast"), script());
    first.run();
    let works = ["each[0].work", "each[1].work", "each[2].work", "after"];
    let all = vec!["each", "each[0].work", "each[1].work", "each[2].work"];
    for (from, kept, calls) in [
        ("after", all, &works[3..]),
        ("each[1].work", vec!["each[0].work"], &works[1..]),
        ("each.work", vec![], &works[..]),
        ("each", vec![], &works[..]),
    ] {
        let (found, mut story) = replayed(&first, from, script());
        assert_eq!(found, kept, "{from}");
        assert_eq!(story.run(), succeeded());
        assert_eq!(story.calls(), calls, "{from}");
        assert_eq!(story.scope_of("after"), first.scope_of("after"), "{from}");
    }
}

#[test]
fn a_branch_is_not_chosen_again() {
    let script = || Script::new().returning_names();
    let mut first = Story::of(BRANCHES, script().answers("route", json!([0])));
    first.run();
    let (kept, story) = replayed(&first, "route.large.bigger", script());
    assert_eq!(kept, ["route.large.big"]);
    assert_eq!(story.calls(), ["route.large.bigger", "after"]);
}

#[test]
fn other_branches_go_on_where_they_were() {
    let script = || Script::new().returning_names();
    let mut first = Story::of(
        &parallel("fail_fast"),
        script()
            .throws("fan.left.l2", "no")
            .throws("fan.right.r1", "no"),
    );
    assert!(matches!(first.run(), RunEnd::Failed { .. }));
    let (kept, mut story) = replayed(&first, "fan.left.l2", script());
    assert_eq!(kept, ["fan.left.l1"]);
    assert_eq!(
        story.calls(),
        ["fan.left.l2", "fan.right.r1", "fan.right.r2", "after"]
    );
    assert_eq!(story.run(), succeeded());
}

#[test]
fn blocks_of_other_branches_keep_their_choice() {
    let text = "steps:
- namespace: fan
  type: parallel
  branches:
  - { name: x, steps: [{ namespace: a }] }
  - name: y
    steps:
    - namespace: route
      type: ifelse
      branches: [{ name: z, if: '{{b}}', steps: [{ namespace: c }, { namespace: d }] }]
";
    let script = Script::new()
        .answers("fan.y.route", json!([0]))
        .throws("fan.y.route.z.d", "no");
    let mut first = Story::of(text, script);
    assert!(matches!(first.run(), RunEnd::Failed { .. }));
    let (kept, mut story) = replayed(&first, "fan.x.a", Script::new());
    assert_eq!(kept, ["fan.y.route.z.c"]);
    assert_eq!(story.calls(), ["fan.x.a", "fan.y.route.z.d"]);
    assert_eq!(story.run(), succeeded());
}

#[test]
fn settled_failures_stay_results() {
    let script = || {
        let script = Script::new().answers("each", json!([[1, 2]]));
        script.returning_paths().throws("each[0].work", "no")
    };
    let mut first = Story::of(&each(1, "settle"), script());
    first.run();
    let (kept, story) = replayed(&first, "after", Script::new());
    assert_eq!(kept, ["each", "each[0].work", "each[1].work"]);
    assert_eq!(story.scope_of("after"), first.scope_of("after"));
    assert!(first.scope_of("after")["each"]["$return_value"][0]["$error"].is_object());
}

#[test]
fn a_round_of_a_loop_that_failed_is_done_again() {
    let text = "steps:
- namespace: again
  type: loop
  while: '{{more}}'
  steps: [{ namespace: work }]
- namespace: after
";
    let rounds = |count: usize| {
        let script = (0..count).fold(Script::new(), |script, _| {
            script.answers("again", json!([true]))
        });
        script.returning_paths()
    };
    let mut first = Story::of(text, rounds(3).throws("again[2].work", "no"));
    assert!(matches!(first.run(), RunEnd::Failed { .. }));
    for (from, kept) in [
        ("again[1].work", vec!["again[0].work"]),
        ("again[2].work", vec!["again[0].work", "again[1].work"]),
    ] {
        let script = Script::new().returning_paths();
        let script = match from {
            "again[1].work" => script.answers("again", json!([true])),
            _ => script,
        };
        let (found, mut story) = replayed(&first, from, script.answers("again", json!([false])));
        assert_eq!(found, kept, "{from}");
        assert_eq!(story.run(), succeeded());
        let paths = json!(["again[0].work", "again[1].work", "again[2].work"]);
        let scope = json!({ "again": { "$return_value": paths } });
        assert_eq!(story.scope_of("after"), scope, "{from}");
    }
}

#[test]
fn a_handled_failure_is_kept_with_its_handler_and_a_handler_can_be_done_again() {
    let text = "steps:
- namespace: a
  on_error: [{ namespace: mend }, { namespace: tell }]
- namespace: b
";
    let mut first = Story::of(text, Script::new().throws("a", "no").returning_names());
    first.run();
    let script = || Script::new().returning_names();
    let (kept, story) = replayed(&first, "b", script());
    assert_eq!(kept, ["a", "a.on_error.mend", "a.on_error.tell"]);
    assert_eq!(story.calls(), ["b"]);
    let (kept, story) = replayed(&first, "a.on_error.tell", script());
    assert_eq!(kept, ["a", "a.on_error.mend"]);
    assert_eq!(story.calls(), ["a.on_error.tell", "b"]);
    assert_eq!(story.scope_of("b"), first.scope_of("b"));
    let (kept, story) = replayed(&first, "a", script());
    assert_eq!(kept, [""; 0]);
    assert_eq!(story.calls(), ["a", "b"]);
}

#[test]
fn indices_that_are_given_count_in_nested_loops() {
    let text = "steps:
- namespace: outer
  type: loop
  over: '{{a}}'
  steps:
  - { namespace: inner, type: loop, over: '{{b}}', steps: [{ namespace: work }] }
";
    let script = || {
        let script = Script::new().answers("outer", json!([[1, 2]]));
        let script = script.answers("outer[0].inner", json!([[1, 2]]));
        script.answers("outer[1].inner", json!([[1, 2]]))
    };
    let mut first = Story::of(text, script());
    first.run();
    for (from, calls) in [
        ("outer.inner.work", 4),
        ("outer.inner[1].work", 3),
        ("outer[1].inner.work", 2),
        ("outer[1].inner[1].work", 1),
    ] {
        let (_, story) = replayed(&first, from, script());
        assert_eq!(story.calls().len(), calls, "{from}");
    }
}

#[test]
fn a_replay_survives_a_crash() {
    let script = Script::new().answers("each", json!([[1, 2, 3]]));
    let mut first = Story::of(&each(1, "fail_fast"), script);
    first.run();
    let replay = replay(&first, "each[1].work").unwrap();
    let mut story = Story::from_tree(replay.tree, Script::new());
    assert_eq!(story.run_with_crashes(1), succeeded());
    assert_eq!(story.calls().last(), Some(&"after"));
    assert!(!story.calls().contains(&"each[0].work"));
}

#[test]
fn a_step_that_is_not_there_or_never_began_is_refused_with_the_way_out() {
    let text = "steps: [{ namespace: a }, { namespace: b }]\non_error: [{ namespace: alarm }]\n";
    let mut first = Story::of(text, Script::new().throws("a", "no"));
    first.run();
    for (from, message) in [
        (
            "c",
            "the deployment has no step `c`; replay the whole run, or with `--same`",
        ),
        (
            "b",
            "the run never began `b`; replay it from a step that it began",
        ),
        (
            "on_error.alarm",
            "`on_error.alarm` belongs to the workflow's `on_error`, which runs after a failure; replay from the step that failed",
        ),
    ] {
        assert_eq!(replay(&first, from).unwrap_err().to_string(), message);
    }
}
