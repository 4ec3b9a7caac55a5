//! Blocks without steps in them: `call`, `delay`, `end`, and conditions of blocks.

use std::time::Duration;

use serde_json::json;

use super::{
    harness::{Script, Story},
    succeeded,
};
use crate::run::{Cause, Failure, Kept, PlaceStatus, Resolution, RunEnd};

fn failure(end: RunEnd) -> Failure {
    match end {
        RunEnd::Failed { failure, .. } => failure,
        other => panic!("it did not fail: {other:?}"),
    }
}

fn block(keys: &str) -> String {
    format!("steps:\n- namespace: b\n{keys}- namespace: after\n")
}

const CALL: &str = "  type: call\n  workflow: other\n  event: { n: '{{n}}' }\n";

#[test]
fn a_call_waits_for_the_other_run_and_gives_its_result() {
    let script = Script::new().answers("b", json!(["other", { "n": 1 }]));
    let mut story = Story::of(&block(CALL), script);
    assert_eq!(story.calls(), ["b: other {\"n\":1}"]);
    assert_eq!(story.status("b"), PlaceStatus::Waiting);
    assert_eq!(story.waits_for(), None, "it ends with the other run");
    let returned = Kept::of(&json!({ "ok": true }));
    story.resolve("b", 0, Resolution::Returned(returned));
    assert_eq!(story.run(), succeeded());
    let scope = json!({ "b": { "$return_value": { "ok": true } } });
    assert_eq!(story.scope_of("after"), scope);
}

#[test]
fn a_call_that_fails_fails_the_block() {
    let script = Script::new().answers("b", json!(["other", {}]));
    let mut story = Story::of(&block(CALL), script);
    let text = "the run r_1 failed: no";
    story.resolve("b", 0, Resolution::Failed(text.to_owned()));
    let failure = failure(story.run());
    assert_eq!(
        (failure.cause, failure.error.message.as_str()),
        (Cause::Called, text)
    );
}

#[test]
fn a_call_that_is_not_waited_for_gives_the_id_of_its_run() {
    let script = Script::new().answers("b", json!(["other", {}]));
    let mut story = Story::of(&block(&format!("{CALL}  wait: false\n")), script);
    assert_eq!(story.run(), succeeded());
    let scope = json!({ "b": { "$return_value": { "run_id": "r_1" } } });
    assert_eq!(story.scope_of("after"), scope);
}

#[test]
fn a_call_of_nothing_fails_by_name() {
    for workflow in [json!(null), json!(""), json!(7)] {
        let script = Script::new().answers("b", json!([workflow, {}]));
        let failure = failure(Story::of(&block(CALL), script).run());
        assert_eq!(failure.cause, Cause::Configuration);
        let message = "`workflow` names a workflow by id, name or folder; it is ";
        assert!(failure.error.message.starts_with(message), "{failure:?}");
    }
    let script = Script::new().answers("b", json!(["other", {}]));
    let script = script.cannot_call("b", "there is no workflow `other`");
    let failure = failure(Story::of(&block(CALL), script).run());
    assert_eq!(failure.error.message, "there is no workflow `other`");
}

#[test]
fn a_call_is_made_again_if_the_node_died_before_its_commit() {
    let script = Script::new().answers("b", json!(["other", {}]));
    let mut story = Story::of(&block(CALL), script);
    story.crash();
    assert_eq!(story.calls().len(), 1, "it was committed");
    story.cancel("enough");
    let late = Resolution::Returned(Kept::of(&json!(1)));
    assert_eq!(story.resolve("b", 0, late), crate::run::Resolved::Before);
}

#[test]
fn a_delay_takes_its_length_or_its_end_from_an_expression() {
    for (keys, answer, seconds) in [
        ("for: '{{a}}'", json!("2m"), 120),
        ("for: '{{a}}'", json!(1500), 1),
        ("until: '{{a}}'", json!(1_060_000), 60),
        ("until: '{{a}}'", json!("1970-01-01T00:17:40Z"), 60),
        ("until: '{{a}}'", json!("1970-01-01"), 0),
    ] {
        let script = Script::new().answers("b", json!([answer]));
        let mut story = Story::of(&block(&format!("  type: delay\n  {keys}\n")), script);
        let waits_for = story.waits_for().map(|span| span.as_secs());
        assert_eq!(waits_for, Some(seconds), "{keys} {answer}");
        assert_eq!(story.run(), succeeded());
        assert_eq!(story.calls(), ["after"]);
    }
}

#[test]
fn a_delay_of_something_else_fails_by_name() {
    for (keys, answer, message) in [
        (
            "for: '{{a}}'",
            json!("soon"),
            "`for` is a time span of a year at most",
        ),
        (
            "for: '{{a}}'",
            json!(u64::MAX),
            "`for` is a time span of a year at most",
        ),
        (
            "until: '{{a}}'",
            json!(null),
            "`until` is a time within a year",
        ),
        (
            "until: '{{a}}'",
            json!("2400-01-01"),
            "it is `\"2400-01-01\"`",
        ),
    ] {
        let script = Script::new().answers("b", json!([answer]));
        let mut story = Story::of(&block(&format!("  type: delay\n  {keys}\n")), script);
        let failure = failure(story.run());
        assert!(failure.error.message.contains(message), "{failure:?}");
    }
}

#[test]
fn a_block_whose_condition_does_not_hold_is_skipped_and_asked_once() {
    let keys = "  type: delay\n  for: 1m\n  if: '{{a}}'\n";
    let mut story = Story::of(&block(keys), Script::new().answers("b", json!([false])));
    assert_eq!(story.status("b"), PlaceStatus::Skipped);
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.scope_of("after"), json!({}));
    let mut story = Story::of(&block(keys), Script::new().answers("b", json!([true])));
    assert_eq!(story.waits_for(), Some(Duration::from_mins(1)));
    assert_eq!(story.run(), succeeded());
}

#[test]
fn an_expression_that_throws_fails_its_block() {
    let script = Script::new().cannot_answer("b", "if: a is not defined");
    let mut story = Story::of(&block("  type: delay\n  for: 1m\n  if: '{{a}}'\n"), script);
    assert_eq!(failure(story.run()).error.message, "if: a is not defined");
    let script = Script::new().cannot_answer("b", "no");
    let keys = "  type: delay\n  for: '{{a}}'\n  on_error: continue\n";
    let mut story = Story::of(&block(keys), script);
    assert_eq!(story.run(), succeeded());
    let error = json!({ "name": "Error", "message": "no", "code": null });
    assert_eq!(story.scope_of("after"), json!({ "b": { "$error": error } }));
}

#[test]
fn an_end_ends_the_run_well_with_its_reason() {
    let reason = |reason: &str| RunEnd::Succeeded {
        reason: Some(reason.to_owned()),
    };
    let mut story = Story::of(&block("  type: end\n"), Script::new());
    assert_eq!(story.run(), reason(""));
    assert_eq!(story.calls(), [""; 0]);
    let keys = "  type: end\n  if: '{{a}}'\n  reason: '{{b}}'\n";
    let script = Script::new().answers("b", json!([true]));
    let mut story = Story::of(&block(keys), script.answers("b", json!(["draft"])));
    assert_eq!(story.run(), reason("draft"));
    let mut story = Story::of(&block(keys), Script::new().answers("b", json!([false])));
    assert_eq!(story.run(), succeeded());
    assert_eq!(story.calls(), ["after"]);
}
