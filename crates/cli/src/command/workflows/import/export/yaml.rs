//! The text of a value as YAML, in the manner of Pipedream's files. Only texts that cannot be mistaken for anything else
//! stand without quotes.

use std::fmt::Write as _;

use serde_json::{Map, Value};

/// The text of an object.
pub(super) fn document(fields: &Map<String, Value>) -> String {
    let mut text = String::new();
    write_fields(&mut text, fields, 0);
    text
}

fn write_fields(text: &mut String, fields: &Map<String, Value>, depth: usize) {
    for (index, (key, value)) in fields.iter().enumerate() {
        // The first of an item stands behind its dash.
        if index > 0 || !text.ends_with("- ") {
            indent(text, depth);
        }
        write_scalar(text, key);
        text.push(':');
        match value {
            Value::Object(inner) if !inner.is_empty() => {
                text.push('\n');
                write_fields(text, inner, depth + 1);
            }
            Value::Array(items) if !items.is_empty() => {
                text.push('\n');
                write_items(text, items, depth);
            }
            Value::Object(_)
            | Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => {
                text.push(' ');
                write_value(text, value);
            }
        }
    }
}

fn write_items(text: &mut String, items: &[Value], depth: usize) {
    for item in items {
        indent(text, depth);
        text.push_str("- ");
        match item {
            Value::Object(fields) if !fields.is_empty() => write_fields(text, fields, depth + 1),
            Value::Object(_)
            | Value::Array(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_) => {
                write_value(text, item);
            }
        }
    }
}

/// A value on one line.
fn write_value(text: &mut String, value: &Value) {
    match value.as_str() {
        Some(scalar) => write_scalar(text, scalar),
        None => escaped(text, &value.to_string()),
    }
    text.push('\n');
}

fn write_scalar(text: &mut String, scalar: &str) {
    match is_plain(scalar) {
        true => text.push_str(scalar),
        false => escaped(text, &Value::from(scalar).to_string()),
    }
}

/// Appends JSON, which YAML reads alike, except for characters that YAML wants to be escaped.
fn escaped(text: &mut String, json: &str) {
    for c in json.chars() {
        match c {
            '\u{7f}'..='\u{9f}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                let _ = write!(text, "\\u{:04x}", u32::from(c));
            }
            c => text.push(c),
        }
    }
}

/// Whether a text is read as itself without quotes, by any version of YAML.
fn is_plain(scalar: &str) -> bool {
    let words = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-./@ ".contains(c);
    scalar.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && scalar.chars().all(is_allowed)
        && !scalar.ends_with(' ')
        && !words.contains(&scalar.to_ascii_lowercase().as_str())
}

fn indent(text: &mut String, depth: usize) {
    text.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use headwater_workflow::definition::{Definition, NodeKind};
    use serde_json::json;

    use super::*;

    #[test]
    fn the_text_looks_like_a_synced_file() {
        let value = json!({
            "name": "A: b", "triggers": [{"id": "hi_1"}],
            "steps": [{"namespace": "a", "props": {"list": ["x", 1, {"k": true}], "none": {}, "t": "yes"}}],
        });
        let Value::Object(fields) = value else {
            unreachable!()
        };
        assert_eq!(
            document(&fields),
            "name: \"A: b\"\n\
             triggers:\n- id: hi_1\n\
             steps:\n- namespace: a\n  props:\n    list:\n    - x\n    - 1\n    - k: true\n    none: {}\n    t: \"yes\"\n"
        );
    }

    proptest::proptest! {
        #[test]
        fn each_text_is_read_back(texts in proptest::collection::vec("\\PC{0,8}|[\\x00-\\u{ffff}]{0,8}", 1..5)) {
            let value = json!({"a": texts, "b": [texts, {"c": texts[0]}], "d": {"e": [[]]}});
            let mut fields = Map::new();
            fields.insert("name".to_owned(), "A".into());
            fields.insert("steps".to_owned(), json!([{"namespace": "a", "props": {"p": value}}]));
            let definition = Definition::read(&document(&fields), &[]).unwrap();
            let NodeKind::Step(step) = &definition.steps[0].kind else { unreachable!() };
            let read: headwater_workflow::definition::Template =
                serde_json::from_value(step.props["p"].clone()).unwrap();
            proptest::prop_assert_eq!(read.to_source(), value);
        }
    }
}
