//! Lists of steps and blocks, and blocks that have such lists.

use std::{collections::HashSet, time::Duration};

use serde_json::{Value, json};

use super::{blocks, fields::Fields, policies, reader::Reader, step};
use crate::{
    definition::{
        blocks::{CaseTest, LoopSource, Mode},
        namespace::Namespace,
        node::{
            Branch, Case, DEFAULT, ELSE, IfElse, Loop, Node, NodeKind, OnError, Parallel, Switch,
        },
        record::Scope,
    },
    path::{ON_ERROR, Path},
    template::{Condition, Template, single_expression},
    yaml::{Content, Entry, Yaml},
};

const TYPES: [&str; 8] = [
    "ifelse", "switch", "parallel", "loop", "delay", "wait", "call", "end",
];
const MODES: [(&str, Mode); 2] = [("fail_fast", Mode::FailFast), ("settle", Mode::Settle)];
const ITEMS_AT_ONCE: std::ops::RangeInclusive<u32> = 1..=1000;
/// Stands for a name that is missing, in a draft.
const NAMELESS: &str = "?";
/// Names of a loop's own results.
const LOOP_NAMES: [&str; 2] = ["item", "index"];

/// The steps and blocks of a list that is at that path.
pub(super) fn read(entry: &Entry, base: &Path, reader: &mut Reader<'_>) -> Vec<Node> {
    let items = reader.list(entry).iter();
    items.filter_map(|item| node(item, base, reader)).collect()
}

fn node(yaml: &Yaml, base: &Path, reader: &mut Reader<'_>) -> Option<Node> {
    let mut fields = Fields::of(yaml, reader);
    if !fields.is_keyed {
        return None;
    }
    let namespace = namespace(&mut fields, reader);
    let path = base.join(namespace.as_str());
    let read = |reader: &mut Reader<'_>| fields_of_node(fields, namespace, &path, reader);
    let node = reader.within((&path, yaml.position), read);
    if node.is_none() {
        unread(yaml, &mut reader.record().unread);
    }
    node
}

/// The name of a node. One that cannot stand is told, and the rest of the node is read all the same.
fn namespace(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Namespace {
    let entry = fields.need("namespace", reader);
    let Some((entry, text)) = entry.and_then(|entry| Some((entry, reader.text(entry)?))) else {
        return Namespace::unchecked(NAMELESS);
    };
    let position = entry.value.position;
    let namespace = match text.parse::<Namespace>() {
        Ok(namespace) => namespace,
        Err(error) => {
            reader.problem(position, error.to_string());
            return Namespace::unchecked(&text);
        }
    };
    if let Err(first) = reader.claim(&text, position) {
        let message =
            format!("the namespace `{text}` is taken already in {first}; rename one of them");
        reader.problem(position, message);
    }
    namespace
}

/// The names in a part of the file that is not read further.
fn unread(yaml: &Yaml, names: &mut HashSet<String>) {
    match &yaml.content {
        Content::Map(entries) => {
            for entry in entries {
                match (entry.key.as_str(), entry.value.text()) {
                    ("namespace", Some(name)) => drop(names.insert(name.to_owned())),
                    _ => unread(&entry.value, names),
                }
            }
        }
        Content::List(items) => items.iter().for_each(|item| unread(item, names)),
        Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => {}
    }
}

fn fields_of_node(
    mut fields: Fields<'_>,
    namespace: Namespace,
    path: &Path,
    reader: &mut Reader<'_>,
) -> Option<Node> {
    let condition = fields.take_added("if", reader);
    let mut condition = condition.map(|entry| {
        let condition = reader.condition(entry, "if");
        condition.unwrap_or_else(|| Condition::constant(false))
    });
    let on_error = fields.take_added(ON_ERROR, reader);
    let on_error = on_error.map(|entry| self::on_error(entry, path, reader));
    let disabled = fields.take("disabled");
    let is_disabled = disabled.and_then(|entry| reader.flag(entry));
    // Older synced files have `note`.
    let notes = fields.take("notes").or_else(|| fields.take("note"));
    let notes = notes.and_then(|entry| reader.text(entry));
    let (mut timeout, mut retry) = (None, None);
    let kind = match fields.take_added("type", reader) {
        Some(entry) => block(entry, &mut fields, path, reader)?,
        None => {
            let entry = fields.take_added("timeout", reader);
            timeout = entry.and_then(|entry| reader.span(entry, Duration::from_millis(1)));
            let entry = fields.take_added("retry", reader);
            retry = entry.map(|entry| policies::retry(&entry.value, reader));
            let (kind, filter) = step::read(&mut fields, &namespace, reader);
            condition = match (condition, filter) {
                (Some(condition), Some(filter)) => Some(condition.and(&filter)),
                (condition, filter) => condition.or(filter),
            };
            kind
        }
    };
    fields.finish(reader);
    Some(Node {
        namespace,
        kind,
        condition,
        timeout,
        retry,
        on_error: on_error.unwrap_or_default(),
        is_disabled: is_disabled.unwrap_or_default(),
        notes,
    })
}

fn on_error(entry: &Entry, path: &Path, reader: &mut Reader<'_>) -> OnError {
    match (&entry.value.content, entry.value.text()) {
        (_, Some("fail")) => OnError::Fail,
        (_, Some("continue")) => OnError::Continue,
        (Content::List(_), _) => OnError::Steps(read(entry, &path.join(ON_ERROR), reader)),
        _ => {
            let expected = "`fail`, `continue` or a list of steps";
            reader.unexpected(entry, expected).unwrap_or_default()
        }
    }
}

fn block(
    entry: &Entry,
    fields: &mut Fields<'_>,
    path: &Path,
    reader: &mut Reader<'_>,
) -> Option<NodeKind> {
    Some(match entry.value.text() {
        Some("ifelse") => NodeKind::IfElse(ifelse(fields, path, reader)),
        Some("switch") => NodeKind::Switch(switch(fields, path, reader)),
        Some("parallel") => NodeKind::Parallel(parallel(fields, path, reader)),
        Some("loop") => NodeKind::Loop(each(fields, path, reader)),
        Some("delay") => NodeKind::Delay(blocks::delay(fields, reader)),
        Some("wait") => NodeKind::Wait(blocks::wait(fields, reader)),
        Some("call") => NodeKind::Call(blocks::call(fields, reader)),
        Some("end") => NodeKind::End(blocks::end(fields, reader)),
        _ => {
            let expected = format!("one of {}, or no `type` for a step", TYPES.join(", "));
            return reader.unexpected(entry, &expected);
        }
    })
}

fn ifelse(fields: &mut Fields<'_>, path: &Path, reader: &mut Reader<'_>) -> IfElse {
    let branches = branches(fields, path, reader, |fields, place, reader| {
        let entry = fields.need("if", reader)?;
        reader.condition(entry, place)
    });
    let otherwise = fields.take(ELSE);
    let otherwise = otherwise.map(|entry| read(entry, &path.join(ELSE), reader));
    IfElse {
        branches,
        otherwise,
    }
}

fn parallel(fields: &mut Fields<'_>, path: &Path, reader: &mut Reader<'_>) -> Parallel {
    let mode = mode(fields, reader);
    let branches = branches(fields, path, reader, |fields, place, reader| {
        let entry = fields.take("if")?;
        match entry.value.text() {
            Some("always") => None,
            Some("never") => Some(Condition::constant(false)),
            _ => reader.condition(entry, place),
        }
    });
    Parallel { mode, branches }
}

/// `branches`, with their conditions as the block has them.
fn branches(
    fields: &mut Fields<'_>,
    path: &Path,
    reader: &mut Reader<'_>,
    condition: impl Fn(&mut Fields<'_>, &str, &mut Reader<'_>) -> Option<Condition>,
) -> Vec<Branch> {
    let parts = parts(fields, "branches", reader).into_iter();
    let read = parts.map(|(name, mut fields)| {
        let condition = condition(&mut fields, &format!("branches.{name}.if"), reader);
        let steps = steps(&mut fields, &path.join(&name), reader);
        fields.finish(reader);
        Branch {
            name,
            condition,
            steps,
        }
    });
    read.collect()
}

fn switch(fields: &mut Fields<'_>, path: &Path, reader: &mut Reader<'_>) -> Switch {
    let on = fields.need("on", reader);
    let on = on.map(|entry| reader.template(&entry.value, "on"));
    let mut cases = Vec::new();
    for (name, mut fields) in parts(fields, "cases", reader) {
        let test = case_test(&mut fields, &name, on.as_ref(), reader);
        let steps = steps(&mut fields, &path.join(&name), reader);
        fields.finish(reader);
        let test = test.unwrap_or_else(|| CaseTest::If(Condition::constant(false)));
        cases.push(Case { name, test, steps });
    }
    let default = fields.take(DEFAULT);
    let default = default.map(|entry| read(entry, &path.join(DEFAULT), reader));
    Switch {
        on: on.unwrap_or_else(|| Template::literal(&Value::Null)),
        cases,
        default,
    }
}

fn case_test(
    fields: &mut Fields<'_>,
    name: &str,
    on: Option<&Template>,
    reader: &mut Reader<'_>,
) -> Option<CaseTest> {
    match (fields.take("equals"), fields.take("if")) {
        (Some(entry), None) => {
            let value = reader.template(&entry.value, &format!("cases.{name}.equals"));
            Some(CaseTest::Equals(value))
        }
        (None, Some(entry)) => {
            let (place, scope) = (format!("cases.{name}.if"), reader.scope());
            let condition = reader.condition_in(entry, &place, (&scope, on))?;
            Some(CaseTest::If(condition))
        }
        _ => {
            let message = format!("the case `{name}` has either `equals` or `if`");
            reader.problem(fields.position, message);
            None
        }
    }
}

fn each(fields: &mut Fields<'_>, path: &Path, reader: &mut Reader<'_>) -> Loop {
    let source = source(fields, path, reader);
    let name = fields.take("as");
    let name = name.and_then(|entry| item_name(entry, reader));
    let concurrency = fields.take("concurrency");
    let at_once = concurrency.and_then(|entry| reader.whole(entry, "", &ITEMS_AT_ONCE));
    if let (Some(entry), Some(LoopSource::While(_))) = (concurrency, &source) {
        let message = "`concurrency` has no effect here: the rounds of `while` follow each other";
        reader.warning(entry.position, message);
    }
    let mode = mode(fields, reader);
    let steps = steps(fields, path, reader);
    let nothing = || LoopSource::Over(Template::literal(&json!([])));
    Loop {
        source: source.unwrap_or_else(nothing),
        item_name: name,
        concurrency: at_once.unwrap_or(1),
        mode,
        steps,
    }
}

fn source(fields: &mut Fields<'_>, path: &Path, reader: &mut Reader<'_>) -> Option<LoopSource> {
    match (fields.take("over"), fields.take("while")) {
        (Some(entry), None) => {
            let is_array = match &entry.value.content {
                Content::Text(text) => single_expression(text).is_some(),
                Content::List(_) => true,
                _ => false,
            };
            if !is_array {
                return reader.unexpected(
                    entry,
                    "one expression \"{{ … }}\" that gives an array, or a list",
                );
            }
            Some(LoopSource::Over(reader.template(&entry.value, "over")))
        }
        (None, Some(entry)) => {
            let scope = Scope::Round(path.clone());
            let condition = reader.condition_in(entry, "while", (&scope, None))?;
            Some(LoopSource::While(condition))
        }
        _ => {
            let message = "a loop has either `over` or `while`";
            reader.problem(fields.position, message);
            None
        }
    }
}

fn item_name(entry: &Entry, reader: &mut Reader<'_>) -> Option<String> {
    let name = reader.text(entry)?;
    let is_name = name.parse::<Namespace>().is_ok() && !name.starts_with('$');
    if !is_name || LOOP_NAMES.contains(&name.as_str()) {
        let expected =
            "a name of letters and digits, other than `item` and `index`, which are there anyway";
        return reader.unexpected(entry, expected);
    }
    Some(name)
}

fn mode(fields: &mut Fields<'_>, reader: &mut Reader<'_>) -> Mode {
    let entry = fields.take("mode");
    let mode = entry.and_then(|entry| reader.choice(entry, &MODES));
    mode.unwrap_or_default()
}

fn steps(fields: &mut Fields<'_>, base: &Path, reader: &mut Reader<'_>) -> Vec<Node> {
    let entry = fields.take("steps");
    entry
        .map(|entry| read(entry, base, reader))
        .unwrap_or_default()
}

/// The named parts of a block: branches or cases.
fn parts<'y>(
    fields: &mut Fields<'y>,
    key: &str,
    reader: &mut Reader<'_>,
) -> Vec<(String, Fields<'y>)> {
    let Some(entry) = fields.need(key, reader) else {
        return Vec::new();
    };
    let (mut names, mut found) = (HashSet::new(), Vec::new());
    for item in reader.list(entry) {
        let mut fields = Fields::of(item, reader);
        if !fields.is_keyed {
            continue;
        }
        let entry = fields.need("name", reader);
        let named = entry.and_then(|entry| Some((entry.value.position, reader.text(entry)?)));
        if let Some((position, name)) = &named {
            if let Err(message) = check_name(name) {
                reader.problem(*position, message);
            } else if !names.insert(name.clone()) {
                let message =
                    format!("the name `{name}` is there already in this block; rename one of them");
                reader.problem(*position, message);
            }
        }
        let name = named.map_or_else(|| NAMELESS.to_owned(), |(_, name)| name);
        found.push((name, fields));
    }
    found
}

/// The name of a branch or case is a part of paths and a key of the block's result.
fn check_name(name: &str) -> Result<(), String> {
    let is_reserved = [ELSE, DEFAULT, ON_ERROR, "__proto__"].contains(&name);
    let is_bad = |c: char| matches!(c, '.' | '[' | ']') || c.is_control();
    let is_padded = name.trim() != name;
    if name.is_empty() || name.chars().count() > 100 || is_padded || name.contains(is_bad) {
        let rule = "has 1 to 100 characters and no `.`, `[` or `]`";
        return Err(format!(
            "the name of a branch or case {rule}; `{name}` is not one"
        ));
    }
    match is_reserved {
        true => Err(format!(
            "`{name}` means something else here; take another name"
        )),
        false => Ok(()),
    }
}
