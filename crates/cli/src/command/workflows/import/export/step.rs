//! Steps of an export: code in a file, or a component of the registry, with props. Sources of triggers have the same
//! fields.

use serde_json::{Map, Value};

use super::fields::{Fields, folded};
use super::state::State;

const CODE: [&str; 5] = ["code", "source_code", "code_raw", "script", "source"];
const KEYS: [&str; 4] = ["component_key", "action_key", "key", "component_id"];
const VERSIONS: [&str; 3] = ["component_version", "action_version", "version"];
const COMPONENTS: [&str; 3] = ["component", "action", "saved_component"];
const PROPS: [&str; 6] = [
    "props",
    "configured_props",
    "params",
    "parameters",
    "inputs",
    "configuration",
];
const RUNTIMES: [&str; 3] = ["runtime", "language", "lang"];

/// The fields `runtime`, `uses` and `props` of a step whose code file is in a folder of that name.
pub(super) fn read(
    fields: &mut Fields<'_>,
    namespace: &str,
    state: &mut State,
) -> Map<String, Value> {
    let mut step = Map::new();
    let mut runtime = fields.text(&RUNTIMES);
    let mut code = fields.text(&CODE);
    if let Some(object) = fields.object(&CODE) {
        let place = fields.place("code");
        let mut inner = Fields::new(object, &place, fields.told());
        runtime = runtime.or_else(|| inner.text(&RUNTIMES));
        code = code.or_else(|| inner.text(&["code", "content", "source", "body", "text"]));
        inner.finish();
    }
    let runtime = runtime.map(|given| named(&given));
    if let Some(runtime) = &runtime {
        step.insert("runtime".to_owned(), runtime.as_str().into());
    }
    match (component(fields), code) {
        (Some(component), code) => {
            step.insert("uses".to_owned(), component.into());
            if code.is_some() {
                // Code of the registry imports files that are not in an export.
                fields.tell("code");
            }
        }
        (None, Some(code)) => {
            let file = format!("{namespace}/entry.{}", ending(runtime.as_deref(), &code));
            step.insert("uses".to_owned(), format!("./{file}").into());
            state.files.insert(file, code.into_bytes());
        }
        (None, None) => {}
    }
    if let Some(cursor) = fields.text(&["_props_cursor", "dynamic_props_id"]) {
        step.insert("_props_cursor".to_owned(), cursor.into());
    }
    if let Some((_, props)) = fields.take_with(&PROPS, props)
        && !props.is_empty()
    {
        step.insert("props".to_owned(), props.into());
    }
    step
}

/// `key@version`, if it names a component.
fn component(fields: &mut Fields<'_>) -> Option<String> {
    let is_component = |text: &&str| !text.is_empty() && !text.starts_with(['.', '/']);
    let read = |value: &Value| value.as_str().filter(is_component).map(str::to_owned);
    // The path of a file says nothing that its code does not say.
    let uses = fields
        .text(&["uses"])
        .filter(|uses| is_component(&uses.as_str()));
    if uses.is_some() {
        return uses;
    }
    if let Some(object) = fields.object(&COMPONENTS) {
        let place = fields.place("component");
        let mut inner = Fields::new(object, &place, fields.told());
        let (_, key) = inner.take_with(&["key", "component_key", "name"], read)?;
        let version = inner.text(&VERSIONS);
        inner.finish();
        return Some(joined(key, version));
    }
    let key = fields
        .take_with(&COMPONENTS, read)
        .or_else(|| fields.take_with(&KEYS, read));
    let (_, key) = key?;
    Some(joined(key, fields.text(&VERSIONS)))
}

fn joined(key: String, version: Option<String>) -> String {
    let has_version = key.trim_start_matches('@').contains('@');
    match version.filter(|_| !has_version) {
        Some(version) => format!("{key}@{version}"),
        None => key,
    }
}

/// Props by name, or a list of `{name, value}`.
fn props(value: &Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(props) => Some(props.clone()),
        Value::Array(items) => {
            let prop = |item: &Value| {
                let fields = item.as_object().filter(|fields| fields.len() == 2)?;
                let name = fields.get("name")?.as_str()?;
                Some((name.to_owned(), fields.get("value")?.clone()))
            };
            items.iter().map(prop).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// The runtime as synced files name it.
fn named(given: &str) -> String {
    match folded(given).as_str() {
        "node" | "nodejs" | "javascript" | "js" => "nodejs20.x".to_owned(),
        "typescript" | "ts" => "nodejs20.x".to_owned(),
        "python" | "py" => "python3.12".to_owned(),
        "golang" => "go1.21".to_owned(),
        "sh" | "shell" => "bash".to_owned(),
        _ => given.to_owned(),
    }
}

/// The ending of the code's file. Without a runtime, only Python tells itself.
fn ending(runtime: Option<&str>, code: &str) -> &'static str {
    match runtime {
        Some(runtime) if runtime.starts_with("python") => "py",
        Some(runtime) if runtime.starts_with("go") => "go",
        Some(runtime) if runtime.starts_with("bash") => "sh",
        None if code.contains("def handler(pd") => "py",
        _ => "js",
    }
}
