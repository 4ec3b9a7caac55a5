//! Steps: their code, their props, and Pipedream's built-in filter.

use serde_json::{Map, Value, json};

use super::{fields::Fields, reader::Reader};
use crate::{
    definition::{
        blocks::End,
        code::{ComponentReference, StepCode},
        namespace::Namespace,
        node::{NodeKind, Step},
    },
    template::{Condition, Template},
    yaml::{Content, Entry, Position, Yaml},
};

const FILTER: &str = "_filter";
/// Endings of code that runs here. The first file of a step's folder that has one, in this order, is its code.
const OWN_ENDINGS: [&str; 6] = ["js", "ts", "mjs", "mts", "cjs", "cts"];
/// Languages of Pipedream that do not run here, by the beginning of the runtime's name.
const FOREIGN: [(&str, &str); 3] = [("python", "py"), ("go", "go"), ("bash", "sh")];

/// A step; for a filter, the condition under which it ends the run.
pub(super) fn read(
    fields: &mut Fields<'_>,
    namespace: &Namespace,
    reader: &mut Reader<'_>,
) -> (NodeKind, Option<Condition>) {
    let runtime = fields.take("runtime");
    let runtime = runtime.and_then(|entry| reader.text(entry));
    let code = code(fields, (namespace, runtime.as_deref()), reader);
    let cursor = fields.take("_props_cursor");
    let cursor = cursor.and_then(|entry| reader.text(entry));
    let mut filter = fields.take(FILTER);
    let props = fields.take("props");
    let props = props.map(|entry| props_of(entry, &mut filter, reader));
    if let Some(filter) = filter {
        let ends = filter_condition(&filter.value, reader);
        let reason = json!(format!("ended by the filter {namespace}"));
        let reason = Some(Template::literal(&reason));
        return (NodeKind::End(End { reason }), ends);
    }
    let step = Step {
        code,
        props: props.unwrap_or_default(),
        runtime,
        props_cursor: cursor,
    };
    (NodeKind::Step(step), None)
}

/// The props of the file, compiled. Keys that begin with `_` are the editor's own.
fn props_of<'y>(
    entry: &'y Entry,
    filter: &mut Option<&'y Entry>,
    reader: &mut Reader<'_>,
) -> Map<String, Value> {
    let mut props = Map::new();
    let Content::Map(entries) = &entry.value.content else {
        return reader
            .unexpected(entry, "props by name")
            .unwrap_or_default();
    };
    for entry in entries {
        if entry.key == FILTER {
            *filter = Some(entry);
        }
        if !entry.key.starts_with('_') {
            let value = reader.template(&entry.value, &format!("props.{}", entry.key));
            props.insert(entry.key.clone(), value.into_value());
        }
    }
    props
}

/// `{continue, rules}`: a filter that is not to continue ends the run when its rules hold, and the other one when they
/// do not.
fn filter_condition(yaml: &Yaml, reader: &mut Reader<'_>) -> Option<Condition> {
    let mut fields = Fields::of(yaml, reader);
    let continues = fields.take("continue");
    let continues = continues
        .and_then(|entry| reader.flag(entry))
        .unwrap_or(true);
    let rules = fields.need("rules", reader)?;
    let holds = reader.condition(rules, FILTER);
    fields.finish(reader);
    Some(match continues {
        true => holds?.negated(),
        false => holds?,
    })
}

fn code(
    fields: &mut Fields<'_>,
    (namespace, runtime): (&Namespace, Option<&str>),
    reader: &mut Reader<'_>,
) -> StepCode {
    let position = fields.position;
    match (fields.take("uses"), fields.take_added("code", reader)) {
        // The folder of a step whose name cannot stand is not known.
        (None, None) if namespace.as_str().parse::<Namespace>().is_err() => {
            StepCode::Inline(String::new())
        }
        (None, None) => default_code((namespace, runtime), position, reader),
        (Some(entry), None) => match reader.text(entry) {
            Some(text) => used(&text, runtime, entry.value.position, reader),
            None => StepCode::Inline(String::new()),
        },
        (None, Some(entry)) => {
            if runtime.is_some_and(is_foreign) {
                let message = "`code` is JavaScript here; put code of another language into a file";
                reader.problem(entry.position, message);
            }
            reader.code_at(entry.value.position);
            StepCode::Inline(reader.text(entry).unwrap_or_default())
        }
        (Some(_), Some(entry)) => {
            let message = "a step has either `uses` or `code`; delete one of them";
            reader.problem(entry.position, message);
            StepCode::Inline(String::new())
        }
    }
}

/// The code of `uses`: a file if it begins like a path, otherwise a component.
pub(super) fn used(
    text: &str,
    runtime: Option<&str>,
    position: Position,
    reader: &mut Reader<'_>,
) -> StepCode {
    if text.starts_with(['.', '/', '\\']) {
        return match path_in_folder(text) {
            Some(file) => {
                if is_typescript(&file) {
                    reader.added(position, "code in TypeScript");
                }
                file_code(file, runtime)
            }
            None => {
                let message = format!(
                    "`{text}` is not a file in the workflow's folder; use a path such as `./step/entry.js`"
                );
                reader.problem(position, message);
                StepCode::Inline(String::new())
            }
        };
    }
    match text.parse::<ComponentReference>() {
        Ok(reference) => {
            if reference.version.is_none() {
                let message = format!(
                    "`{text}` names no version: each deployment takes the newest; write `{text}@1.2.3`"
                );
                reader.warning(position, message);
            }
            StepCode::Component(reference)
        }
        Err(error) => {
            reader.problem(position, error.to_string());
            StepCode::Inline(String::new())
        }
    }
}

/// The file in the folder of the step's namespace.
fn default_code(
    (namespace, runtime): (&Namespace, Option<&str>),
    position: Position,
    reader: &mut Reader<'_>,
) -> StepCode {
    reader.added(position, "a step without `uses`");
    let file = |ending: &str| format!("{namespace}/entry.{ending}");
    let is_there = |ending: &&str| reader.files.contains(&file(ending).as_str());
    let foreign = FOREIGN.iter().map(|(_, ending)| *ending);
    let ending = match runtime.and_then(foreign_ending) {
        Some(ending) => ending,
        None => {
            let mut endings = OWN_ENDINGS.into_iter().chain(foreign);
            endings.find(is_there).unwrap_or(OWN_ENDINGS[0])
        }
    };
    let file = file(ending);
    if is_typescript(&file) {
        reader.added(position, "code in TypeScript");
    }
    file_code(file, runtime)
}

fn file_code(file: String, runtime: Option<&str>) -> StepCode {
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_own = OWN_ENDINGS.contains(&ending);
    let foreign_runtime = runtime.filter(|runtime| is_foreign(runtime));
    match (is_own, foreign_runtime) {
        (true, None) => StepCode::File(file),
        (_, runtime) => StepCode::Foreign {
            runtime: runtime.unwrap_or(ending).to_owned(),
            file,
        },
    }
}

fn is_foreign(runtime: &str) -> bool {
    foreign_ending(runtime).is_some()
}

fn foreign_ending(runtime: &str) -> Option<&'static str> {
    let mut foreign = FOREIGN.iter();
    let found = foreign.find(|(name, _)| runtime.starts_with(name))?;
    Some(found.1)
}

fn is_typescript(file: &str) -> bool {
    [".ts", ".mts", ".cts"]
        .iter()
        .any(|ending| file.ends_with(ending))
}

/// A relative path without the steps that lead nowhere; `None` if it leaves the folder.
fn path_in_folder(text: &str) -> Option<String> {
    if text.starts_with('/') || text.contains('\\') {
        return None;
    }
    let parts: Vec<&str> = text
        .split('/')
        .filter(|part| !matches!(*part, "." | ""))
        .collect();
    let stays = !parts.is_empty() && !parts.contains(&"..");
    stays.then(|| parts.join("/"))
}
