//! Schemas on the page: a value described in a few words, and the fields of an object.

use serde_json::Value;

use super::{
    document::{fields, items, resolved, text_of},
    text::{escape, inline, prose},
};

/// Every schema that is more than an envelope.
pub(super) fn section(document: &Value) -> String {
    let schemas = fields(&document["components"]["schemas"]);
    let articles: String = schemas
        .filter(|(name, _)| !is_envelope(name))
        .map(|(name, schema)| {
            format!(
                "<article id=\"{}\" class=\"schema\">\n<h3>{}</h3>\n{}{}</article>\n",
                anchor(name),
                escape(name),
                prose(text_of(&schema["description"])),
                body(document, schema),
            )
        })
        .collect();
    format!("<section id=\"schemas\">\n<h2>Schemas</h2>\n{articles}</section>\n")
}

/// A whole schema: its fields, its variants, or a description in a few words.
pub(super) fn body(document: &Value, schema: &Value) -> String {
    let schema = resolved(document, schema);
    if schema["properties"].is_object() {
        return table(document, schema);
    }
    if schema["oneOf"].is_array() {
        let variants = items(&schema["oneOf"]).map(|variant| {
            let description = prose(text_of(&variant["description"]));
            format!("{description}{}", body(document, variant))
        });
        return variants.collect();
    }
    let pattern = schema["pattern"].as_str();
    let pattern = pattern.map(|pattern| format!(" <code>{}</code>", escape(pattern)));
    format!(
        "<p class=\"kind\">{}{}</p>\n",
        kind(document, schema),
        pattern.unwrap_or_default()
    )
}

/// The fields of an object.
fn table(document: &Value, schema: &Value) -> String {
    let is_required = |name: &str| items(&schema["required"]).any(|required| required == name);
    let rows: String = fields(&schema["properties"])
        .map(|(name, field)| {
            row(
                name,
                is_required(name),
                &kind(document, field),
                description(field),
            )
        })
        .collect();
    let more = match schema["additionalProperties"].is_object() {
        true => "<p>And any other field.</p>\n",
        false => "",
    };
    format!("<table>\n{rows}</table>\n{more}")
}

/// The description of a field, also of one that may be null.
fn description(field: &Value) -> &str {
    match text_of(&field["description"]) {
        "" => text_of(&field["oneOf"][0]["description"]),
        own => own,
    }
}

/// One field or parameter.
pub(super) fn row(name: &str, is_required: bool, kind: &str, description: &str) -> String {
    let required = match is_required {
        true => " <em>required</em>",
        false => "",
    };
    format!(
        "<tr><th><code>{}</code>{required}</th><td><span class=\"kind\">{kind}</span>{}</td></tr>\n",
        escape(name),
        prose(description),
    )
}

/// A value, described in a few words.
pub(super) fn kind(document: &Value, schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(schema_name) {
        return match is_envelope(name) {
            true => envelope(document, resolved(document, schema)),
            false => format!("<a href=\"#{}\">{}</a>", anchor(name), escape(name)),
        };
    }
    if let Some(values) = schema["enum"].as_array() {
        let values = values.iter().map(|value| inline(&format!("`{value}`")));
        return values.collect::<Vec<_>>().join(" or ");
    }
    if schema["oneOf"].is_array() {
        let choices = items(&schema["oneOf"]).map(|choice| kind(document, choice));
        return choices.collect::<Vec<_>>().join(" or ");
    }
    let names = match &schema["type"] {
        Value::Array(names) => names.iter().map(text_of).collect(),
        Value::String(name) => vec![name.as_str()],
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => vec!["any JSON"],
    };
    let names = names.into_iter().map(|name| match name {
        "array" => format!("list of {}", kind(document, &schema["items"])),
        "object" if schema["additionalProperties"].is_object() => {
            format!(
                "object of {}",
                kind(document, &schema["additionalProperties"])
            )
        }
        other => escape(other),
    });
    names.collect::<Vec<_>>().join(" or ") + &bounds(schema)
}

fn bounds(schema: &Value) -> String {
    let mut bounds = String::new();
    if let (Some(minimum), Some(maximum)) = (schema["minimum"].as_i64(), schema["maximum"].as_i64())
    {
        bounds.push_str(&format!(", {minimum} to {maximum}"));
    }
    if !schema["default"].is_null() {
        bounds.push_str(&format!(
            ", {} by default",
            escape(&schema["default"].to_string())
        ));
    }
    bounds
}

/// `{data: …}` and the like, written out where it is used.
fn envelope(document: &Value, schema: &Value) -> String {
    let fields = fields(&schema["properties"]).map(|(name, field)| {
        let name = escape(name);
        format!("<code>{name}</code>: {}", kind(document, field))
    });
    format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
}

fn is_envelope(name: &str) -> bool {
    name.starts_with("Data_") || name.starts_with("Paged_")
}

fn schema_name(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/components/schemas/")
}

fn anchor(name: &str) -> String {
    format!("schema-{}", escape(name))
}
