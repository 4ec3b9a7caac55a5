//! A call of an operation on the command line, with values that the document gives as examples.

use serde_json::{Map, Value};

use super::document::{Operation, fields, items, resolved, text_of};

/// The call with `curl`.
pub(super) fn curl(document: &Value, operation: &Operation<'_>) -> String {
    let mut lines = vec![format!(
        "curl {}'{}'",
        method(operation),
        url(document, operation)
    )];
    if !operation.said["security"].is_array() {
        lines.push("-H \"Authorization: Bearer $HEADWATER_API_KEY\"".to_owned());
    }
    let content = fields(&operation.said["requestBody"]["content"]).next();
    if let Some((media_type, content)) = content {
        let body = value(document, &content["schema"]);
        lines.push(format!("-H 'Content-Type: {media_type}'"));
        let quoted = format!("{body:#}").replace('\'', r"'\''");
        lines.push(format!("-d '{quoted}'"));
    }
    lines.join(" \\\n  ")
}

fn method(operation: &Operation<'_>) -> String {
    let has_body = operation.said["requestBody"].is_object();
    match (operation.method, has_body) {
        ("get", _) | ("post", true) => String::new(),
        (other, _) => format!("-X {} ", other.to_uppercase()),
    }
}

fn url(document: &Value, operation: &Operation<'_>) -> String {
    let mut path = operation.path.to_owned();
    let mut query = Vec::new();
    for parameter in items(&operation.said["parameters"]) {
        let parameter = resolved(document, parameter);
        let name = text_of(&parameter["name"]);
        let shown = match parameter.get("example") {
            Some(example) => plain(example),
            None => plain(&value(document, &parameter["schema"])),
        };
        if parameter["in"] == "path" {
            path = path.replace(&format!("{{{name}}}"), &shown);
        } else if parameter["required"] == true {
            query.push(format!("{name}={shown}"));
        }
    }
    let mark = if query.is_empty() { "" } else { "?" };
    let server = text_of(&document["servers"][0]["url"]);
    format!("{server}{path}{mark}{}", query.join("&"))
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// An example of a value: the schema's own, else one of its required fields.
fn value(document: &Value, schema: &Value) -> Value {
    let schema = resolved(document, schema);
    let given = schema.get("example").or_else(|| schema["examples"].get(0));
    if let Some(given) = given {
        return given.clone();
    }
    match text_of(&schema["type"]) {
        "object" => {
            let required = items(&schema["required"]).map(|name| {
                let name = text_of(name);
                let field = value(document, &schema["properties"][name]);
                (name.to_owned(), field)
            });
            Value::Object(required.collect::<Map<_, _>>())
        }
        "integer" | "number" => Value::from(1),
        "boolean" => Value::from(true),
        _ => Value::from("…"),
    }
}
