//! Blocks: each with its keys and their defaults.

use std::time::Duration;

use serde_json::{Value, json};

use super::{node, problems, warnings, with};
use crate::definition::{
    Call, CaseTest, Condition, Definition, Delay, DelayLength, End, LoopSource, Mode, NodeKind,
    OnError, OnTimeout, Template, Wait,
};

/// A workflow of one block `b` with these keys.
fn block(keys: &str) -> Definition {
    with(&format!("steps:\n- namespace: b\n{}", indented(keys)))
}

fn indented(keys: &str) -> String {
    keys.lines().map(|line| format!("  {line}\n")).collect()
}

fn kind(keys: &str) -> NodeKind {
    node(&block(keys), "b").kind.clone()
}

fn literal(value: Value) -> Template {
    Template::literal(&value)
}

fn names(definition: &Definition) -> Vec<String> {
    let paths = definition.paths().into_iter();
    paths.map(|(path, _)| path.to_string()).collect()
}

#[test]
fn an_ifelse_has_branches_with_conditions_and_perhaps_an_else() {
    let text = "type: ifelse
branches:
- name: first one
  if: { t: or, r: [{ a: '{{steps.x}}', op: exists }] }
  steps: [{ namespace: c }]
- { name: second, if: false }
else: [{ namespace: d }]
";
    let definition = block(text);
    assert_eq!(names(&definition), ["b", "b.first one.c", "b.else.d"]);
    let NodeKind::IfElse(ifelse) = &node(&definition, "b").kind else {
        panic!("it is an ifelse");
    };
    let conditions = ifelse.branches.iter();
    let conditions: Vec<_> = conditions.map(|branch| json!(branch.condition)).collect();
    let rule = json!({ "op": "exists", "a": { "$template": [{ "expression": "steps.x" }] } });
    assert_eq!(
        conditions,
        [json!({ "or": [rule] }), json!({ "expression": "false" })]
    );
    let kind = kind("type: ifelse\nbranches: [{ name: a, if: '{{b}}', steps: [] }]\n");
    assert_eq!(kind.taken(None), None);
    assert_eq!(kind.taken(Some(0)), Some(("a", &[][..])));
    assert_eq!(kind.taken(Some(1)), None);
}

#[test]
fn a_switch_compares_one_value_with_its_cases() {
    let text = "type: switch
on: '{{steps.trigger.event.kind}}'
cases:
- { name: one, equals: 1, steps: [{ namespace: c }] }
- { name: text, equals: 'x {{y}}' }
- { name: rule, if: { op: text_starts_with, b: z } }
default: [{ namespace: d }]
";
    let definition = block(text);
    assert_eq!(names(&definition), ["b", "b.one.c", "b.default.d"]);
    let NodeKind::Switch(switch) = &node(&definition, "b").kind else {
        panic!("it is a switch");
    };
    assert_eq!(switch.cases[0].test, CaseTest::Equals(literal(json!(1))));
    let on = json!({ "$template": [{ "expression": "steps.trigger.event.kind" }] });
    let conditions: Vec<_> = switch
        .cases
        .iter()
        .map(|case| json!(case.condition(&switch.on)))
        .collect();
    assert_eq!(
        conditions,
        [
            json!({ "op": "equals", "a": on, "b": 1 }),
            json!({ "op": "equals", "a": on, "b": { "$template": ["x ", { "expression": "y" }] } }),
            json!({ "op": "text_starts_with", "a": on, "b": "z" }),
        ]
    );
    let kind = &node(&definition, "b").kind;
    assert_eq!(kind.taken(None).map(|(name, _)| name), Some("default"));
}

#[test]
fn branches_of_a_parallel_are_taken_always_never_or_on_a_condition() {
    let text = "type: parallel
branches:
- { name: a, steps: [{ namespace: c }] }
- { name: b, if: always }
- { name: c, if: never }
- { name: d, if: '{{e}}' }
";
    let NodeKind::Parallel(parallel) = kind(text) else {
        panic!("it is a parallel");
    };
    assert_eq!(parallel.mode, Mode::FailFast);
    let conditions = parallel.branches.into_iter().map(|branch| branch.condition);
    assert_eq!(
        conditions.collect::<Vec<_>>(),
        [
            None,
            None,
            Some(Condition::constant(false)),
            Some(Condition::expression("e"))
        ]
    );
}

#[test]
fn a_loop_has_items_or_a_condition() {
    let NodeKind::Loop(each) = kind("type: loop\nover: '{{[1]}}'\nsteps: [{ namespace: c }]\n")
    else {
        panic!("it is a loop");
    };
    assert_eq!(each.source, LoopSource::Over(Template::expression("[1]")));
    assert_eq!(
        (each.concurrency, each.mode, each.item_name),
        (1, Mode::FailFast, None)
    );
    let text = "type: loop\nover: [1, '{{a}}']\nas: thing\nconcurrency: 8\nmode: settle\n";
    let NodeKind::Loop(each) = kind(text) else {
        panic!("it is a loop");
    };
    let over = Template::compile(&json!([1, "{{a}}"]));
    assert_eq!(each.source, LoopSource::Over(over));
    assert_eq!(
        (each.concurrency, each.mode, each.item_name.as_deref()),
        (8, Mode::Settle, Some("thing"))
    );
    let NodeKind::Loop(each) = kind("type: loop\nwhile: '{{steps.b.index < 3}}'\n") else {
        panic!("it is a loop");
    };
    let condition = Condition::expression("steps.b.index < 3");
    assert_eq!(each.source, LoopSource::While(condition));
    let found = warnings("steps:\n- { namespace: b, type: loop, while: true, concurrency: 2 }\n");
    assert!(
        found[0].contains("`concurrency` has no effect here"),
        "{found:?}"
    );
}

#[test]
fn a_delay_has_a_length_or_an_end() {
    let length = |keys: &str| match kind(&format!("type: delay\n{keys}")) {
        NodeKind::Delay(Delay { length }) => length,
        other => panic!("it is a {}", other.as_str()),
    };
    assert_eq!(
        length("for: 30m"),
        DelayLength::For(Duration::from_mins(30))
    );
    assert_eq!(
        length("for: 1500"),
        DelayLength::For(Duration::from_millis(1500))
    );
    assert_eq!(
        length("for: '{{a}}m'"),
        DelayLength::ForValue(Template::compile(&json!("{{a}}m")))
    );
    assert_eq!(
        length("until: 2027-01-31"),
        DelayLength::Until(literal(json!("2027-01-31")))
    );
    assert_eq!(
        length("until: '{{a}}'"),
        DelayLength::Until(Template::expression("a"))
    );
}

#[test]
fn a_wait_ends_after_a_day_and_cancels_the_run_unless_it_says_otherwise() {
    let wait = |keys: &str| match kind(&format!("type: wait\n{keys}")) {
        NodeKind::Wait(wait) => wait,
        other => panic!("it is a {}", other.as_str()),
    };
    let day = Wait {
        timeout: Some(Duration::from_hours(24)),
        on_timeout: OnTimeout::Cancel,
    };
    assert_eq!(wait(""), day);
    let never = Wait {
        timeout: None,
        on_timeout: OnTimeout::Cancel,
    };
    assert_eq!(wait("timeout: never"), never);
    for (text, on_timeout) in [
        ("cancel", OnTimeout::Cancel),
        ("continue", OnTimeout::Continue),
        ("fail", OnTimeout::Fail),
    ] {
        let expected = Wait {
            timeout: Some(Duration::from_hours(2)),
            on_timeout,
        };
        assert_eq!(wait(&format!("timeout: 2h\non_timeout: {text}")), expected);
    }
}

#[test]
fn a_call_names_a_workflow_and_waits_for_it() {
    assert_eq!(
        kind("type: call\nworkflow: p_aB3dE6g\n"),
        NodeKind::Call(Call {
            workflow: literal(json!("p_aB3dE6g")),
            event: literal(json!({})),
            waits: true,
        })
    );
    assert_eq!(
        kind("type: call\nworkflow: '{{a}}'\nevent: { b: ['{{c}}'] }\nwait: false\n"),
        NodeKind::Call(Call {
            workflow: Template::expression("a"),
            event: Template::compile(&json!({ "b": ["{{c}}"] })),
            waits: false,
        })
    );
}

#[test]
fn an_end_has_a_condition_and_a_reason() {
    assert_eq!(kind("type: end"), NodeKind::End(End { reason: None }));
    let definition = block("type: end\nif: '{{a}}'\nreason: draft {{b}}\n");
    let node = node(&definition, "b");
    assert_eq!(node.condition, Some(Condition::expression("a")));
    let reason = Some(Template::compile(&json!("draft {{b}}")));
    assert_eq!(node.kind, NodeKind::End(End { reason }));
}

#[test]
fn every_block_has_the_keys_of_a_node() {
    let text =
        "type: delay\nfor: 1s\nif: true\non_error: [{ namespace: c }]\ndisabled: true\nnotes: n\n";
    let definition = block(text);
    let node = node(&definition, "b");
    assert_eq!(node.condition, Some(Condition::constant(true)));
    assert!(matches!(&node.on_error, OnError::Steps(steps) if steps.len() == 1));
    assert!(node.is_disabled);
    assert_eq!(node.notes.as_deref(), Some("n"));
    assert_eq!(names(&definition), ["b", "b.on_error.c"]);
}

#[test]
fn blocks_nest() {
    let text = "type: loop
over: '{{a}}'
steps:
- namespace: c
  type: parallel
  branches:
  - name: d
    steps:
    - { namespace: e, on_error: [{ namespace: f, on_error: [{ namespace: g }] }] }
";
    let definition = block(text);
    let expected = [
        "b",
        "b.c",
        "b.c.d.e",
        "b.c.d.e.on_error.f",
        "b.c.d.e.on_error.f.on_error.g",
    ];
    assert_eq!(names(&definition), expected);
    for path in [
        "b[0].c.d.e",
        "b[12].c.d.e.on_error.f",
        "b.c.d.e.on_error.f.on_error.g",
    ] {
        assert_eq!(
            node(&definition, path).namespace.as_str(),
            path.rsplit('.').next().unwrap()
        );
    }
    for path in [
        "",
        "b[0]",
        "c",
        "b.c.x.e",
        "b.c[0].d.e",
        "b.on_error.f",
        "on_error.f",
    ] {
        assert_eq!(definition.node(&path.parse().unwrap()), None, "{path}");
    }
    let place = definition.found_at(&"b[4].c.d.e".parse().unwrap());
    assert_eq!((place.line, place.column), (12, 9));
}

/// Texts, and the beginnings or parts of what is said about them.
const MISTAKES: &[(&str, &str)] = &[
    (
        "type: if",
        "line 4, column 9: error: b: `type` is `if`; expected one of ifelse, switch, parallel, loop, delay, wait, call, end, or no `type` for a step",
    ),
    (
        "type: ifelse",
        "line 3, column 3: error: b: `branches` is missing here",
    ),
    (
        "type: ifelse\nbranches: {}",
        "line 5, column 13: error: b: `branches` is keys with values; expected a list",
    ),
    (
        "type: ifelse\nbranches: [{ if: true }]",
        "line 5, column 14: error: b: `name` is missing here",
    ),
    (
        "type: ifelse\nbranches: [{ name: a }]",
        "line 5, column 14: error: b: `if` is missing here",
    ),
    (
        "type: ifelse\nbranches: [{ name: a.b, if: true }]",
        "line 5, column 22: error: b: the name of a branch or case has 1 to 100 characters",
    ),
    (
        "type: ifelse\nbranches: [{ name: else, if: true }]",
        "`else` means something else here; take another name",
    ),
    (
        "type: ifelse\nbranches: [{ name: a, if: true }, { name: a, if: true }]",
        "line 5, column 45: error: b: the name `a` is there already in this block",
    ),
    (
        "type: ifelse\nbranches: [{ name: a, if: steps.x }]",
        "line 5, column 29: error: b: `branches.a.if`: a condition is one expression \"{{ … }}\", true, false, or rules",
    ),
    (
        "type: ifelse\nbranches: [{ name: a, if: { op: like, a: 1 } }]",
        "`branches.a.if`: the operator `like` is unknown; there are exists,",
    ),
    (
        "type: switch\non: 1\ncases: [{ name: a }]",
        "line 6, column 11: error: b: the case `a` has either `equals` or `if`",
    ),
    (
        "type: switch\ncases: []",
        "line 3, column 3: error: b: `on` is missing here",
    ),
    (
        "type: parallel\nmode: slow\nbranches: []",
        "line 5, column 9: error: b: `mode` is `slow`; expected `fail_fast` or `settle`",
    ),
    (
        "type: loop",
        "line 3, column 3: error: b: a loop has either `over` or `while`",
    ),
    (
        "type: loop\nover: 5",
        "line 5, column 9: error: b: `over` is 5; expected one expression",
    ),
    (
        "type: loop\nover: 'a {{b}}'",
        "`over` is `a {{b}}`; expected one expression",
    ),
    (
        "type: loop\nover: []\nas: index",
        "line 6, column 7: error: b: `as` is `index`; expected a name",
    ),
    (
        "type: loop\nover: []\nconcurrency: 0",
        "`concurrency` is 0; expected a whole number from 1 to 1000",
    ),
    (
        "type: delay",
        "line 3, column 3: error: b: a delay has either `for`, such as `30m`, or `until`",
    ),
    (
        "type: delay\nfor: 1s\nuntil: 1",
        "a delay has either `for`, such as `30m`, or `until`",
    ),
    (
        "type: delay\nfor: a while",
        "line 5, column 8: error: b: `for` is `a while`; expected a time of a year",
    ),
    (
        "type: delay\nuntil: tomorrow",
        "line 5, column 10: error: b: `until` is `tomorrow`; expected a date",
    ),
    (
        "type: wait\ntimeout: long",
        "`timeout` is `long`; expected a time",
    ),
    (
        "type: wait\non_timeout: stop",
        "`on_timeout` is `stop`; expected `cancel` or `continue` or `fail`",
    ),
    (
        "type: call",
        "line 3, column 3: error: b: `workflow` is missing here",
    ),
    (
        "type: call\nworkflow: a\nwait: perhaps",
        "`wait` is `perhaps`; expected true or false",
    ),
];

#[test]
fn mistakes_in_blocks_are_told_with_their_places() {
    for (text, expected) in MISTAKES {
        let found = problems(&format!("steps:\n- namespace: b\n{}", indented(text)));
        assert!(found[0].contains(expected), "{text}: {found:?}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
    }
}
