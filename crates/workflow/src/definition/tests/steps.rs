//! Steps: their code, their props and what happens around them.

use std::time::Duration;

use serde_json::json;

use super::{node, problems, step, warnings, with};
use crate::definition::{Condition, Definition, NodeKind, OnError, StepCode};

fn code(keys: &str, files: &[&str]) -> StepCode {
    let text = format!("name: Test\nsteps:\n- namespace: a\n{keys}");
    let definition = Definition::read(&text, files).unwrap();
    step(&definition, "a").code.clone()
}

fn foreign(runtime: &str, file: &str) -> StepCode {
    StepCode::Foreign {
        runtime: runtime.to_owned(),
        file: file.to_owned(),
    }
}

#[test]
fn the_code_of_a_step_is_in_the_folder_of_its_namespace_by_default() {
    let file = |file: &str| StepCode::File(file.to_owned());
    for (keys, files, expected) in [
        ("", &[][..], file("a/entry.js")),
        ("", &["a/entry.ts"], file("a/entry.ts")),
        ("", &["a/entry.mjs", "b/entry.ts"], file("a/entry.mjs")),
        ("", &["a/entry.ts", "a/entry.js"], file("a/entry.js")),
        ("", &["a/entry.py"], foreign("py", "a/entry.py")),
        (
            "  runtime: python3.12\n",
            &["a/entry.js"],
            foreign("python3.12", "a/entry.py"),
        ),
        (
            "  runtime: golang1.x\n",
            &[],
            foreign("golang1.x", "a/entry.go"),
        ),
        ("  runtime: bash\n", &[], foreign("bash", "a/entry.sh")),
        ("  runtime: nodejs20.x\n", &[], file("a/entry.js")),
    ] {
        assert_eq!(code(keys, files), expected, "{keys} {files:?}");
    }
}

#[test]
fn the_code_of_a_step_is_a_file_a_component_or_in_the_file_itself() {
    let file = |file: &str| StepCode::File(file.to_owned());
    assert_eq!(code("  uses: ./a/entry.js\n", &[]), file("a/entry.js"));
    assert_eq!(
        code("  uses: .//shared/./b.mts\n", &[]),
        file("shared/b.mts")
    );
    assert_eq!(
        code("  uses: ./a/entry.rb\n", &[]),
        foreign("rb", "a/entry.rb")
    );
    let inline = "export default 1;\n\n";
    assert_eq!(
        code("  code: |+\n    export default 1;\n\n", &[]),
        StepCode::Inline(inline.to_owned())
    );
    let StepCode::Component(component) = code("  uses: rss-merge@1.2.3\n", &[]) else {
        panic!("it is a component");
    };
    assert_eq!(
        (component.key.as_str(), component.version.as_deref()),
        ("rss-merge", Some("1.2.3"))
    );
    let found = warnings("steps:\n- { namespace: a, uses: rss-merge }\n");
    assert!(
        found[0].contains(
            "names no version: each deployment takes the newest; write `rss-merge@1.2.3`"
        ),
        "{found:?}"
    );
}

#[test]
fn a_step_has_a_condition_a_time_limit_and_a_handler() {
    let definition = with(
        "steps:
- namespace: a
  if: '{{steps.trigger.event.ok}}'
  timeout: 20000
  retry: { attempts: 2 }
  on_error:
  - namespace: mend
    on_error: fail
- { namespace: b, on_error: continue }
on_error:
- namespace: alarm
",
    );
    let a = node(&definition, "a");
    assert_eq!(
        a.condition,
        Some(Condition::expression("steps.trigger.event.ok"))
    );
    assert_eq!(a.timeout, Some(Duration::from_secs(20)));
    assert_eq!(a.retry.as_ref().map(|retry| retry.attempts), Some(2));
    assert!(matches!(&a.on_error, OnError::Steps(steps) if steps[0].namespace.as_str() == "mend"));
    assert_eq!(node(&definition, "b").on_error, OnError::Continue);
    assert_eq!(node(&definition, "a.on_error.mend").on_error, OnError::Fail);
    assert_eq!(
        definition.on_error,
        [node(&definition, "on_error.alarm").clone()]
    );
}

#[test]
fn expressions_of_all_kinds_are_found_in_props() {
    for (text, expression) in [
        ("'{{ {a:{b:1}} }}'", " {a:{b:1}} "),
        ("'{{`${x}}}`}}'", "`${x}}}`"),
        ("'{{/}}/.test(a)}}'", "/}}/.test(a)"),
        ("'{{ /* }} */ a }}'", " /* }} */ a "),
        ("'{{}}'", ""),
        ("|\n      {{\n        a // }}\n      }}", "\n  a // }}\n"),
    ] {
        let definition = with(&format!(
            "steps:\n- namespace: a\n  props:\n    x: {text}\n"
        ));
        let found = &step(&definition, "a").props["x"];
        let expected = json!({ "expression": expression });
        assert_eq!(found["$template"][0], expected, "{text}");
    }
    let definition = with("steps:\n- namespace: a\n  props: { x: '{{ a', y: '}} {{' }\n");
    assert_eq!(
        json!(step(&definition, "a").props),
        json!({ "x": "{{ a", "y": "}} {{" })
    );
}

#[test]
fn a_filter_beside_a_condition_needs_both() {
    let definition = with(
        "steps:
- namespace: a
  if: '{{b}}'
  _filter: { continue: true, rules: { op: is_true, a: 1 } }
",
    );
    let node = node(&definition, "a");
    assert!(matches!(node.kind, NodeKind::End(_)));
    assert_eq!(
        json!(node.condition),
        json!({ "and": [{ "expression": "b" }, { "not": { "op": "is_true", "a": 1 } }] })
    );
}

#[test]
fn unknown_keys_are_told_and_have_no_effect() {
    let found = warnings("steps:\n- namespace: a\n  colour: red\n  props: { x: 1 }\nextra: 1\n");
    assert_eq!(
        found,
        [
            "line 4, column 3: warning: a: `colour` is not known here, and has no effect",
            "line 6, column 1: warning: `extra` is not known here, and has no effect",
        ]
    );
}

/// Texts, and the beginnings or parts of what is said about them.
const MISTAKES: &[(&str, &str)] = &[
    (
        "- {}",
        "line 3, column 3: error: `namespace` is missing here",
    ),
    (
        "- a",
        "line 3, column 3: error: expected keys with values, and there is text",
    ),
    (
        "- namespace: a b",
        "line 3, column 14: error: `a b` cannot be a namespace because of ` `: use letters, digits and `_`",
    ),
    (
        "- namespace: a-b",
        "`a-b` cannot be a namespace because of `-`",
    ),
    ("- namespace: ''", "a namespace cannot be empty"),
    (
        "- namespace: trigger",
        "`trigger` cannot be a namespace, because it means something else",
    ),
    ("- namespace: [a]", "`namespace` is a list; expected a text"),
    (
        "- namespace: a\n- namespace: a",
        "line 4, column 14: error: the namespace `a` is taken already in line 3, column 14; rename one of them",
    ),
    (
        "- { namespace: a, uses: ../b.js }",
        "line 3, column 25: error: a: `../b.js` is not a file in the workflow's folder; use a path such as `./step/entry.js`",
    ),
    (
        "- { namespace: a, uses: /b.js }",
        "`/b.js` is not a file in the workflow's folder",
    ),
    (
        "- { namespace: a, uses: a@1@2 }",
        "`a@1@2` is not a component: expected `key@version`",
    ),
    (
        "- { namespace: a, uses: a@1, code: b }",
        "a step has either `uses` or `code`; delete one of them",
    ),
    (
        "- { namespace: a, runtime: python3.12, code: b }",
        "`code` is JavaScript here; put code of another language into a file",
    ),
    (
        "- { namespace: a, props: [1] }",
        "`props` is a list; expected props by name",
    ),
    (
        "- { namespace: a, if: yes }",
        "`if`: a condition is one expression",
    ),
    (
        "- { namespace: a, timeout: 0 }",
        "`timeout` is 0; expected a time",
    ),
    (
        "- { namespace: a, retry: 3 }",
        "expected keys with values, and there is a number",
    ),
    (
        "- { namespace: a, on_error: stop }",
        "`on_error` is `stop`; expected `fail`, `continue` or a list of steps",
    ),
    (
        "- { namespace: a, disabled: 1 }",
        "`disabled` is 1; expected true or false",
    ),
    (
        "- { namespace: a, _filter: { continue: false } }",
        "`rules` is missing here",
    ),
    (
        "- { namespace: a, _filter: { rules: { r: [{ a: 1, op: 'str~', b: 2 }] } } }",
        "`_filter`: the operator `str~` is unknown",
    ),
];

#[test]
fn mistakes_in_steps_are_told_with_their_places() {
    for (text, expected) in MISTAKES {
        let found = problems(&format!("steps:\n{text}"));
        assert!(found[0].contains(expected), "{text}: {found:?}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}

#[test]
fn namespaces_are_unique_in_the_whole_workflow() {
    let text = "steps:
- namespace: a
  type: parallel
  branches:
  - { name: x, steps: [{ namespace: b }] }
  - { name: y, steps: [{ namespace: b, on_error: [{ namespace: c }] }] }
on_error:
- namespace: c
";
    let found = problems(text);
    assert_eq!(found.len(), 2);
    assert!(
        found[0].contains("the namespace `b` is taken already in line 6, column 37"),
        "{found:?}"
    );
    assert!(
        found[1]
            .starts_with("line 9, column 14: error: the namespace `c` is taken already in line 7"),
        "{found:?}"
    );
}
