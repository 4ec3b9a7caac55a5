//! Lists of steps and control flow of an export. A step of which neither code nor component can be found stays in its
//! place without either, so that the folder cannot be deployed before somebody has looked at it.

use serde_json::{Map, Value, json};

use super::fields::{Fields, folded};
use super::state::State;
use super::step;

const NAMES: [&str; 5] = ["namespace", "step_namespace", "slug", "name", "id"];
const STEPS: [&str; 4] = ["steps", "actions", "nodes", "children"];
const CONDITIONS: [&str; 6] = [
    "if",
    "condition",
    "conditions",
    "rules",
    "rule",
    "expression",
];
const BRANCHES: [&str; 3] = ["branches", "cases", "paths"];
const OTHERWISE: [&str; 3] = ["else", "default", "otherwise"];

/// The steps of a list, or of an object by namespace.
pub(super) fn steps(value: Value, place: &str, state: &mut State) -> Vec<Value> {
    match value {
        Value::Array(items) => {
            let items = items.into_iter().enumerate();
            let read = |(index, item)| node(item, (&format!("{place}[{index}]"), None), state);
            items.filter_map(read).collect()
        }
        Value::Object(items) => {
            let items = items.into_iter();
            let read = |(name, item): (String, Value)| {
                node(item, (&format!("{place}.{name}"), Some(&name)), state)
            };
            items.filter_map(read).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            state.told.push(place.to_owned());
            Vec::new()
        }
    }
}

fn node(value: Value, (place, key): (&str, Option<&str>), state: &mut State) -> Option<Value> {
    let mut told = Vec::new();
    let mut fields = match Fields::of(value, place, &mut told) {
        Some(fields) => fields,
        None => {
            state.told.append(&mut told);
            return None;
        }
    };
    let given = fields.text(&NAMES).or_else(|| key.map(str::to_owned));
    let namespace = state.namespace(given.as_deref().unwrap_or("step"), place);
    // Further names of the step say nothing more.
    while fields.text(&NAMES).is_some() {}
    let mut node = Map::new();
    node.insert("namespace".to_owned(), namespace.as_str().into());
    if let Some(notes) = fields.text(&["notes", "note", "description"]) {
        node.insert("notes".to_owned(), notes.into());
    }
    if fields.flag(&["disabled"]) == Some(true) || fields.flag(&["enabled"]) == Some(false) {
        node.insert("disabled".to_owned(), true.into());
    }
    let given = fields.named_text(&["block_type", "step_type", "type", "kind"]);
    let (name, kind) = given.unzip();
    match kind.as_deref().map(folded).as_deref() {
        Some("ifelse" | "if" | "condition" | "branch") => {
            node.insert("type".to_owned(), "ifelse".into());
            branches(&mut fields, ("branches", "if"), &mut node, state);
        }
        Some("switch") => {
            node.insert("type".to_owned(), "switch".into());
            if let Some(on) = fields.value(&["on", "expression", "value"]) {
                node.insert("on".to_owned(), expression(on));
            }
            branches(&mut fields, ("cases", "equals"), &mut node, state);
        }
        Some("parallel") => {
            node.insert("type".to_owned(), "parallel".into());
            branches(&mut fields, ("branches", "if"), &mut node, state);
        }
        Some("delay") => delay(&mut fields, &mut node),
        Some("end") => {
            node.insert("type".to_owned(), "end".into());
            if let Some(reason) = fields.text(&["reason"]) {
                node.insert("reason".to_owned(), reason.into());
            }
        }
        kind => {
            node.extend(step::read(&mut fields, &namespace, state));
            filter(&mut fields, &mut node);
            if kind.is_some_and(|kind| !is_step(kind)) && !node.contains_key("uses") {
                fields.tell(name.as_deref().unwrap_or("type"));
            }
        }
    }
    fields.finish();
    state.told.append(&mut told);
    Some(node.into())
}

/// Words for a step with code or a component.
fn is_step(kind: &str) -> bool {
    let words = [
        "step",
        "code",
        "action",
        "component",
        "node",
        "cell",
        "registry",
        "filter",
    ];
    words.iter().any(|word| kind.contains(word))
}

/// The named lists of steps of a block, and the one for when none is taken.
fn branches(
    fields: &mut Fields<'_>,
    (key, test): (&str, &str),
    node: &mut Map<String, Value>,
    state: &mut State,
) {
    let place = fields.place(key);
    let mut read = Vec::new();
    let last = if key == "cases" { "default" } else { "else" };
    for (index, item) in fields
        .list(&BRANCHES)
        .unwrap_or_default()
        .into_iter()
        .enumerate()
    {
        let at = format!("{place}[{index}]");
        let Some(mut inner) = Fields::of(item, &at, fields.told()) else {
            continue;
        };
        let name = inner.text(&["name", "label", "namespace", "key"]);
        let name = name.unwrap_or_else(|| format!("branch_{}", index + 1));
        let kind = inner.text(&["type", "kind"]);
        let steps = steps_of(&mut inner, state);
        let is_last = [Some(name.as_str()), kind.as_deref()]
            .into_iter()
            .flatten()
            .any(|word| OTHERWISE.contains(&folded(word).as_str()));
        if is_last {
            node.insert(last.to_owned(), steps);
        } else {
            let mut branch = Map::new();
            branch.insert("name".to_owned(), allowed(&name).into());
            condition(&mut inner, test, &mut branch);
            branch.insert("steps".to_owned(), steps);
            read.push(Value::from(branch));
        }
        inner.finish();
    }
    node.insert(key.to_owned(), read.into());
    if let Some((name, value)) = fields.take_with(&OTHERWISE, |value| Some(value.clone())) {
        let at = fields.place(&name);
        let steps = match value {
            Value::Object(map) => {
                let mut inner = Fields::new(map, &at, fields.told());
                let steps = steps_of(&mut inner, state);
                inner.finish();
                steps
            }
            value @ (Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)) => steps(value, &at, state).into(),
        };
        node.insert(last.to_owned(), steps);
    }
}

fn steps_of(fields: &mut Fields<'_>, state: &mut State) -> Value {
    let Some((name, value)) = fields.take_with(&STEPS, |value| Some(value.clone())) else {
        return json!([]);
    };
    let place = fields.place(&name);
    steps(value, &place, state).into()
}

/// The condition of a branch; of a case, the value that it equals, or rules.
fn condition(fields: &mut Fields<'_>, test: &str, branch: &mut Map<String, Value>) {
    if test == "equals"
        && let Some(value) = fields.value(&["equals", "value", "case"])
    {
        branch.insert(test.to_owned(), value);
    } else if let Some(value) = fields.value(&CONDITIONS) {
        branch.insert("if".to_owned(), expression(value));
    }
}

/// A condition or value: a text without braces is an expression, except for the words of parallel branches.
fn expression(value: Value) -> Value {
    match value.as_str() {
        Some("always" | "never") | None => value,
        Some(text) if text.contains("{{") => value,
        Some(text) => format!("{{{{{text}}}}}").into(),
    }
}

fn delay(fields: &mut Fields<'_>, node: &mut Map<String, Value>) {
    node.insert("type".to_owned(), "delay".into());
    let length = fields.value(&[
        "for",
        "duration",
        "duration_ms",
        "delay_ms",
        "ms",
        "milliseconds",
    ]);
    if let Some(length) = length {
        node.insert("for".to_owned(), length);
    }
}

/// The built-in filter stays as synced files have it.
fn filter(fields: &mut Fields<'_>, node: &mut Map<String, Value>) {
    if let Some(filter) = fields.object(&["_filter"]) {
        node.insert("_filter".to_owned(), filter.into());
    }
}

/// The name of a branch without characters that paths have.
fn allowed(name: &str) -> String {
    let is_bad = |c: char| matches!(c, '.' | '[' | ']') || c.is_control();
    let replaced = |c: char| if is_bad(c) { '_' } else { c };
    let name: String = name.trim().chars().take(100).map(replaced).collect();
    name.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> (Value, State) {
        let mut state = State::default();
        let steps = steps(value, "steps", &mut state);
        (steps.into(), state)
    }

    #[test]
    fn blocks_nest_and_keep_their_conditions() {
        let rules = json!({"t": "and", "r": [{"a": "{{steps.a}}", "op": "str/", "b": "x"}]});
        let (steps, state) = read(json!([{
            "namespace": "route", "type": "if-else",
            "branches": [
                {"name": "large", "condition": "steps.trigger.event.n > 1", "steps": [
                    {"namespace": "both", "type": "parallel", "branches": [
                        {"name": "a.b", "condition": "always", "steps": [{"namespace": "x", "code": "1"}]},
                        {"condition": rules, "steps": [{"namespace": "y", "key": "slack-send", "version": "1.0.0"}]},
                    ]},
                ]},
                {"name": "Else", "steps": [{"namespace": "z", "type": "delay", "duration": 60000}]},
            ],
        }]));
        assert_eq!(state.told, [""; 0]);
        assert_eq!(
            steps,
            json!([{
                "namespace": "route", "type": "ifelse",
                "branches": [{"name": "large", "if": "{{steps.trigger.event.n > 1}}", "steps": [{
                    "namespace": "both", "type": "parallel",
                    "branches": [
                        {"name": "a_b", "if": "always", "steps": [{"namespace": "x", "uses": "./x/entry.js"}]},
                        {"name": "branch_2", "if": rules, "steps": [{"namespace": "y", "uses": "slack-send@1.0.0"}]},
                    ],
                }]}],
                "else": [{"namespace": "z", "type": "delay", "for": 60000}],
            }])
        );
    }

    #[test]
    fn code_of_other_languages_is_kept_in_files_of_theirs() {
        let (steps, state) = read(json!({
            "py": {"code": {"language": "python", "content": "def handler(pd): pass"}},
            "go": {"runtime": "golang", "code": "package main"},
            "sh": {"runtime": "bash", "code": "ls"},
            "ts": {"code": "export default 1"},
        }));
        let files: Vec<_> = state.files.keys().map(String::as_str).collect();
        assert_eq!(
            files,
            ["go/entry.go", "py/entry.py", "sh/entry.sh", "ts/entry.js"]
        );
        assert_eq!(steps[0]["runtime"], "python3.12");
        assert_eq!(state.told, [""; 0]);
    }

    #[test]
    fn a_step_that_is_not_understood_keeps_its_place() {
        let (steps, state) = read(json!([
            {"namespace": "a b", "type": "teleport", "target": "x"},
            {"namespace": "known", "key": "slack-send@1.0.0", "code": "…", "props": [{"name": "p", "value": 1}]},
            5,
        ]));
        assert_eq!(
            steps,
            json!([
                {"namespace": "a_b"},
                {"namespace": "known", "uses": "slack-send@1.0.0", "props": {"p": 1}},
            ])
        );
        assert!(
            state.told[0].contains("`a b` became `a_b`"),
            "{:?}",
            state.told
        );
        assert_eq!(
            state.told[1..],
            [
                "steps[0].type",
                "steps[0].target",
                "steps[1].code",
                "steps[2]"
            ]
        );
    }
}
