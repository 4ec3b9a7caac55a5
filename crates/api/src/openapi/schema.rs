//! Corrections that derived schemas need: a generic's argument is a schema of its own, and an optional
//! field is left out of a response, not null.

use serde_json::{Map, Value, json};

const SCHEMAS: &str = "#/components/schemas/";

/// Mends the schemas among the document's components.
pub(super) fn complete(components: &mut Value) {
    let Some(Value::Object(schemas)) = components.get_mut("schemas") else {
        return;
    };
    refer(schemas);
    for name in shown(schemas) {
        if let Some(schema) = schemas.get_mut(&name) {
            omit_null(schema);
        }
    }
}

/// A value that may also be null, without null.
pub(super) fn forbid_null(schema: &mut Value) {
    if let Some(types) = schema.get_mut("type").and_then(Value::as_array_mut) {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            schema["type"] = only.clone();
        }
    }
    if let Some(choices) = schema.get_mut("oneOf").and_then(Value::as_array_mut) {
        choices.retain(|choice| choice["type"] != "null");
        if let [only] = choices.as_slice() {
            *schema = only.clone();
        }
    }
}

/// The arguments of generics are written out in the generic's schema; refers to theirs instead.
fn refer(schemas: &mut Map<String, Value>) {
    let known: Vec<_> = schemas
        .iter()
        .filter(|(_, schema)| schema["properties"].is_object())
        .map(|(name, schema)| (name.clone(), schema.clone()))
        .collect();
    for (name, schema) in schemas.iter_mut() {
        for (other, meaning) in known.iter().filter(|(other, _)| other != name) {
            replace(
                schema,
                meaning,
                &json!({ "$ref": format!("{SCHEMAS}{other}") }),
            );
        }
    }
}

fn replace(value: &mut Value, old: &Value, new: &Value) {
    if value == old {
        value.clone_from(new);
        return;
    }
    for part in parts(value) {
        replace(part, old, new);
    }
}

/// The schemas that responses show: those of envelopes and whatever they refer to.
fn shown(schemas: &Map<String, Value>) -> Vec<String> {
    let is_envelope = |name: &&String| name.starts_with("Data_") || name.starts_with("Paged_");
    let mut shown: Vec<_> = schemas.keys().filter(is_envelope).cloned().collect();
    shown.push("ErrorBody".to_owned());
    let mut next = 0;
    while let Some(schema) = shown.get(next).and_then(|name| schemas.get(name)) {
        for name in references(schema) {
            if !shown.contains(&name) {
                shown.push(name);
            }
        }
        next += 1;
    }
    shown
}

fn references(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str);
            let own = own.and_then(|reference| reference.strip_prefix(SCHEMAS));
            let within = fields.values().flat_map(references);
            own.map(str::to_owned).into_iter().chain(within).collect()
        }
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn omit_null(schema: &mut Value) {
    let required = schema.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        let mut names = required.as_array().into_iter().flatten();
        names.any(|required| required == name)
    };
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for (name, property) in properties.iter_mut() {
            if !is_required(name) {
                forbid_null(property);
            }
        }
    }
    for part in parts(schema) {
        omit_null(part);
    }
}

fn parts(value: &mut Value) -> Vec<&mut Value> {
    match value {
        Value::Object(fields) => fields.values_mut().collect(),
        Value::Array(items) => items.iter_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}
