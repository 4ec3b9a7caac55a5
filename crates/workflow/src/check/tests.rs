//! Findings about whole files.

use super::{additions, check, check_draft};
use crate::{
    definition::{Definition, Draft},
    finding::{Finding, Severity},
};

const TRIGGER: &str = "name: Test\ntriggers: [{ type: http }]\n";

fn read(keys: &str) -> Definition {
    match Definition::read(&format!("{TRIGGER}{keys}"), &[]) {
        Ok(definition) => definition,
        Err(error) => panic!("{error}"),
    }
}

/// The findings about a workflow whose code is there; its first line is line 3.
fn findings(keys: &str) -> Vec<String> {
    let definition = read(keys);
    let steps = definition.nodes();
    let files: Vec<String> = steps
        .map(|step| format!("{}/entry.js", step.namespace))
        .collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let findings = check(&definition, &files);
    findings.iter().map(ToString::to_string).collect()
}

/// The findings about a whole file, mistakes included, by line.
fn findings_of_draft(text: &str) -> Vec<String> {
    let draft = Draft::read(text, &[]).unwrap();
    let findings = check_draft(&draft, &[]);
    let shown = findings.iter().map(|finding| {
        let path = finding.place.path.as_ref();
        let path = path.map_or_else(String::new, |path| format!(" {path}"));
        let message = finding.message.split(';').next().unwrap_or_default();
        format!("{}{path}: {message}", finding.place.line)
    });
    shown.collect()
}

#[test]
fn mistakes_hide_nothing_else_and_cause_no_other_findings() {
    let found = findings_of_draft(
        "name: Test
triggers:
- { type: schedule, cron: soon, timezone: Mars/Base }
steps:
- namespace: each
  type: loop
  steps:
  - namespace: old
    runtime: python3.12
  - namespace: use
    code: '1'
    props: { ok: '{{steps.each.item}}', bad: '{{steps.}}', other: '{{steps.nobody}}' }
- namespace: odd
  type: dealy
  steps: [{ namespace: inner }]
- { namespace: my step, code: '1', props: { x: '{{steps.old}}' } }
- code: '1'
  props: { x: '{{steps.odd}} {{steps.inner}} {{steps.each}}' }
- { namespace: stop, type: end, if: maybe }
- namespace: gone
",
    );
    let expected = [
        "3: `cron`: ",
        "3: `timezone`: `Mars/Base` is not an IANA time zone",
        "5 each: a loop has either `over` or `while`",
        "8 each.old: `old/entry.py` is code for `python3.12`",
        "12 each.use: `props.bad`: `{{steps.}}` is not an expression",
        "12 each.use: `props.other`: `steps.nobody` is undefined",
        "14 odd: ",
        "16: `my step` cannot be a namespace",
        "16 my step: `props.x`: `steps.old` is undefined",
        "17: `namespace` is missing here",
        "19 stop: ",
        "20 gone: the file `gone/entry.js` is not in the workflow's folder",
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.starts_with(expected), "{found} is not {expected}");
    }
}

#[test]
fn a_branch_without_a_name_hides_nothing_of_its_steps() {
    let found = findings_of_draft(
        "name: Test
triggers: [{ type: http }]
steps:
- namespace: route
  type: ifelse
  branches:
  - if: '{{true}}'
    steps: [{ namespace: a }]
",
    );
    assert_eq!(
        found,
        [
            "7 route: `name` is missing here",
            "8 route.?.a: the file `a/entry.js` is not in the workflow's folder",
        ]
    );
}

#[test]
fn a_good_workflow_has_no_findings() {
    let keys = "steps:
- namespace: a
  props: { x: 'plain {{ steps.trigger.event.x }}', y: 'two steps. One' }
- namespace: b
  if: '{{steps.a?.ok && event.y}}'
on_error:
- namespace: alarm
";
    assert_eq!(findings(keys), [""; 0]);
}

#[test]
fn code_that_is_not_there_or_does_not_run_here_cannot_be_deployed() {
    let keys = "steps:
- { namespace: a, uses: ./a/entry.js }
- { namespace: b, uses: ./shared/b.ts }
- { namespace: c, runtime: python3.12, uses: ./c/entry.py }
- { namespace: d, disabled: true }
- { namespace: e, uses: rss-merge@1.0.0 }
- { namespace: f, code: export default 1 }
";
    let text = format!("{keys}on_error: [{{ namespace: g }}]\n");
    let definition = read(&text);
    let found = check(&definition, &["a/entry.js", "c/entry.py", "workflow.yaml"]);
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "line 5, column 3: error: b: the file `shared/b.ts` is not in the workflow's folder; add it, or name another one with `uses`",
            "line 6, column 3: error: c: `c/entry.py` is code for `python3.12`, which does not run here; rewrite it in JavaScript or TypeScript",
            "line 7, column 3: warning: d: the file `d/entry.js` is not in the workflow's folder; add it, or name another one with `uses`",
            "line 10, column 12: error: on_error.g: the file `g/entry.js` is not in the workflow's folder; add it, or name another one with `uses`",
        ]
    );
}

#[test]
fn the_source_of_a_trigger_has_to_be_there_too() {
    let text = "name: Test\ntriggers:\n- { type: source, uses: ./feed.ts }\n- { type: source, uses: ./feed.py }\n";
    let definition = Definition::read(text, &[]).unwrap();
    let found = check(&definition, &[]);
    assert_eq!(found.len(), 2);
    assert!(
        found[0]
            .to_string()
            .starts_with("line 3, column 3: error: the file `feed.ts` is not")
    );
    assert!(
        found[1]
            .to_string()
            .starts_with("line 4, column 3: error: `feed.py` is code for `py`")
    );
    assert_eq!(check(&definition, &["feed.ts", "feed.py"]).len(), 1);
}

#[test]
fn references_to_results_that_cannot_be_there_are_told() {
    let keys = "steps:
- namespace: first_one
  props: { x: '{{steps.later}}', self: '{{steps.first_one.$attempt}}' }
- namespace: route
  type: ifelse
  branches:
  - name: yes
    if: \"{{steps.first_one.a && steps['Firstone']}}\"
    steps: [{ namespace: inner, props: { x: '{{steps.first_one}} {{steps.route}}' } }]
  - name: no
    if: '{{true}}'
    steps: [{ namespace: other, props: { x: '{{steps.inner.a}}' } }]
- namespace: off
  disabled: true
- namespace: later
  props: { x: '{{steps.inner}}', y: '{{steps.route}}', z: ['{{steps.off.a}}'] }
on_error:
- { namespace: alarm, props: { x: '{{steps.later}}' } }
";
    let before = "does not run before this, or is in a branch whose steps cannot be seen from here";
    assert_eq!(
        findings(keys),
        [
            format!("line 5, column 15: warning: first_one: `props.x`: `steps.later` is undefined: `later` {before}"),
            "line 10, column 9: warning: route: `branches.yes.if`: `steps.Firstone` is undefined: the workflow has no step `Firstone`; there is `first_one`".to_owned(),
            format!("line 11, column 45: warning: route.yes.inner: `props.x`: `steps.route` is undefined: `route` {before}"),
            format!("line 14, column 45: warning: route.no.other: `props.x`: `steps.inner` is undefined: `inner` {before}"),
            format!("line 18, column 15: warning: later: `props.x`: `steps.inner` is undefined: `inner` {before}"),
            "line 18, column 60: warning: later: `props.z[0]`: `steps.off` is undefined: `off` is disabled, and leaves no result".to_owned(),
            format!("line 20, column 35: warning: on_error.alarm: `props.x`: `steps.later` is undefined: `later` {before}"),
        ]
    );
}

#[test]
fn loops_and_handlers_see_what_they_are_in() {
    let keys = "steps:
- namespace: each
  type: loop
  while: '{{steps.work.more && steps.each.index < 3}}'
  steps:
  - namespace: work
    props: { x: '{{steps.each.item}}' }
    on_error:
    - { namespace: mend, props: { x: '{{steps.work.$error}}' } }
    - { namespace: tell, props: { x: '{{steps.mend}}{{steps.each}}' } }
  - { namespace: next, props: { x: '{{steps.work}}' } }
";
    assert_eq!(findings(keys), [""; 0]);
    let keys = "steps:
- { namespace: each, type: loop, over: '{{steps.work.list}}', steps: [{ namespace: work }] }
- { namespace: after, props: { x: '{{steps.work}}' } }
";
    let found = findings(keys);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(
        found[0].starts_with("line 4, column 40: warning: each: `over`: `steps.work` is undefined")
    );
    assert!(
        found[1]
            .starts_with("line 5, column 35: warning: after: `props.x`: `steps.work` is undefined")
    );
}

#[test]
fn settings_and_triggers_see_the_trigger_alone() {
    let text = "name: Test
settings:
  concurrency: { limit: 1, key: '{{steps.a.id}}' }
  throttle: { limit: 1, per: 1m, key: '{{steps.trigger.event.id}}' }
triggers:
- { type: http, idempotency_key: '{{steps.a}}', auth: { bearer: '{{process.env.A}}' } }
steps: [{ namespace: a }]
";
    let definition = Definition::read(text, &[]).unwrap();
    let found = check(&definition, &["a/entry.js"]);
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    let reason = "`steps.a` is undefined: only `steps.trigger` is there before a run begins";
    assert_eq!(
        found,
        [
            format!("line 3, column 33: warning: `settings.concurrency.key`: {reason}"),
            format!("line 6, column 34: warning: `triggers[0].idempotency_key`: {reason}"),
        ]
    );
}

#[test]
fn text_that_was_perhaps_meant_as_an_expression_is_told() {
    let keys = "steps:
- namespace: a
- namespace: b
  props:
    x: '{ \"rows\": steps.a.$return_value }'
    y: 'at {{steps.a.x'
    z: 'steps.unknown, mysteps.a, x.steps.a'
    w: steps.trigger.event
";
    assert_eq!(
        findings(keys),
        [
            "line 7, column 8: warning: b: `props.x`: `steps.a` is text here, and not the step's result; put it into `{{ }}` if you mean that",
            "line 8, column 8: warning: b: `props.y`: `{{` is not closed, and everything from it on is text",
            "line 10, column 8: warning: b: `props.w`: `steps.trigger` is text here, and not the step's result; put it into `{{ }}` if you mean that",
        ]
    );
}

#[test]
fn expressions_that_are_none_cannot_be_deployed() {
    let keys = "steps:
- namespace: a
  if: '{{ x; y }}'
  props: { y: ['{{}}'], z: '{{ (a }}', ok: '{{ {a:{b:1}} }}', more: '{{ ++i }}' }
";
    assert_eq!(
        findings(keys),
        [
            "line 5, column 7: error: a: `if`: `{{ x; y }}` is not an expression: `;` ends a statement; write one expression (line 1, column 3 of the expression)",
            "line 6, column 16: warning: a: `props.y[0]`: an expression is empty, and its value is undefined",
            "line 6, column 28: error: a: `props.z`: `{{ (a }}` is not an expression: `(` is not closed (line 1, column 2 of the expression)",
        ]
    );
}

#[test]
fn a_trigger_whose_configuration_is_not_in_the_file_cannot_be_deployed() {
    let text = "name: Test\ntriggers:\n- id: ti_aB3dE6g\n- id: dc_aB3dE6g\n- id: ev_aB3dE6g\n- id: hi_aB3dE6g\n";
    let definition = Definition::read(text, &[]).unwrap();
    let found = check(&definition, &[]);
    assert!(
        found
            .iter()
            .all(|finding| finding.severity == Severity::Error),
        "{found:?}"
    );
    let messages: Vec<_> = found
        .iter()
        .map(|finding| finding.message.as_str())
        .collect();
    let missing = "is not in the file, as Pipedream does not sync it; add";
    assert_eq!(
        messages,
        [
            format!(
                "the configuration of `ti_aB3dE6g` {missing} `type: schedule` and `cron` or `interval_seconds`"
            ),
            format!(
                "the configuration of `dc_aB3dE6g` {missing} `type: source`, `uses` and `props`"
            ),
            format!("the configuration of `ev_aB3dE6g` {missing} `type: events` and `emitter`"),
        ]
    );
}

#[test]
fn a_workflow_without_triggers_is_told_unless_it_is_off() {
    let found = |text: &str| -> Vec<Finding> { check(&Definition::read(text, &[]).unwrap(), &[]) };
    let notes = found("name: Test\n");
    assert_eq!(notes.len(), 1);
    assert_eq!(notes[0].severity, Severity::Note);
    assert!(
        notes[0]
            .message
            .starts_with("the workflow has no triggers; it runs only when")
    );
    assert_eq!(found("name: Test\ninactive: true\n"), []);
}

#[test]
fn steps_behind_an_end_without_a_condition_are_told() {
    let keys = "steps:
- namespace: route
  type: ifelse
  branches: [{ name: x, if: true, steps: [{ namespace: stop, type: end }, { namespace: never }] }]
- { namespace: maybe, type: end, if: '{{a}}' }
- { namespace: off, type: end, disabled: true }
- { namespace: last, type: end }
";
    assert_eq!(
        findings(keys),
        [
            "line 6, column 75: warning: route.x.never: it never runs, because `route.x.stop` before it always ends the run"
        ]
    );
}

#[test]
fn additions_are_keys_and_forms_that_pipedream_would_not_know() {
    let definition = read(
        "settings: { error_notification: true, queue: { size: 1 } }
steps:
- { namespace: a, uses: ./a/entry.ts }
- { namespace: b, uses: ./b/entry.js, props: { x: 1 }, notes: n, disabled: true }
- { namespace: c, code: export default 1, if: true }
",
    );
    let found = additions(&definition);
    let found: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(
        found,
        [
            "line 2, column 14: note: Pipedream would not know `type`",
            "line 3, column 39: note: Pipedream would not know `queue`",
            "line 5, column 25: note: a: Pipedream would not know code in TypeScript",
            "line 7, column 19: note: c: Pipedream would not know `code`",
            "line 7, column 43: note: c: Pipedream would not know `if`",
        ]
    );
}
