//! Template values: JSON in which text with expressions is taken apart.
//!
//! Text with `{{ }}` is `{"$template": [part, …]}`, in which a part is text or `{"expression": "…"}`. An object of the
//! file that has one of the reserved keys is `{"$literal": object}`. Everything else is itself.

use headwater_javascript::embedded::{Part, parts};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

const TEMPLATE: &str = "$template";
const LITERAL: &str = "$literal";
const EXPRESSION: &str = "expression";
/// Keys that an object of the file cannot have without being told apart.
const RESERVED: [&str; 3] = [TEMPLATE, LITERAL, "$condition"];

/// A compiled value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Template(Value);

impl Template {
    /// A value of a file, with `{{ }}` in its texts.
    pub fn compile(value: &Value) -> Self {
        Self(match value {
            Value::String(text) => text_value(text),
            Value::Array(items) => items.iter().map(|item| Self::compile(item).0).collect(),
            Value::Object(fields) => object(fields, |value| Self::compile(value).0),
            Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
        })
    }

    /// A value without expressions, whatever its texts look like.
    pub fn literal(value: &Value) -> Self {
        Self(match value {
            Value::Array(items) => items.iter().map(|item| Self::literal(item).0).collect(),
            Value::Object(fields) => object(fields, |value| Self::literal(value).0),
            other => other.clone(),
        })
    }

    /// The value of an expression.
    pub fn expression(text: &str) -> Self {
        Self(json!({ TEMPLATE: [{ EXPRESSION: text }] }))
    }

    /// Its compiled form.
    pub fn as_value(&self) -> &Value {
        &self.0
    }

    /// Its compiled form.
    pub fn into_value(self) -> Value {
        self.0
    }

    /// The value, if it has no expressions.
    pub fn to_literal(&self) -> Option<Value> {
        compiled_literal(&self.0)
    }

    /// Whether it has something of its own beside expressions.
    pub fn has_literals(&self) -> bool {
        has_literals(&self.0)
    }

    /// The value as a file has it.
    pub fn to_source(&self) -> Value {
        compiled_source(&self.0)
    }
}

/// The value of a compiled template that has no expressions; `None` if it has some.
pub fn compiled_literal(compiled: &Value) -> Option<Value> {
    match compiled {
        Value::Array(items) => items.iter().map(compiled_literal).collect(),
        Value::Object(fields) if fields.contains_key(TEMPLATE) => None,
        Value::Object(fields) => {
            let fields = plain_fields(fields).iter();
            let fields = fields.map(|(name, value)| Some((name.clone(), compiled_literal(value)?)));
            fields.collect::<Option<_>>().map(Value::Object)
        }
        other => Some(other.clone()),
    }
}

fn text_value(text: &str) -> Value {
    let parts = parts(text);
    let has_expressions = parts.iter().any(|part| matches!(part, Part::Expression(_)));
    if !has_expressions {
        return Value::from(text);
    }
    let parts = parts.into_iter().map(|part| match part {
        Part::Text(text) => Value::from(text),
        Part::Expression(text) => json!({ EXPRESSION: text }),
    });
    json!({ TEMPLATE: parts.collect::<Vec<_>>() })
}

fn object(fields: &Map<String, Value>, compile: impl Fn(&Value) -> Value) -> Value {
    let compiled = fields.iter();
    let compiled = compiled.map(|(name, value)| (name.clone(), compile(value)));
    let compiled = Value::Object(compiled.collect());
    let is_reserved = RESERVED.iter().any(|key| fields.contains_key(*key));
    match is_reserved {
        true => json!({ LITERAL: compiled }),
        false => compiled,
    }
}

/// The fields of an object of the file.
fn plain_fields(compiled: &Map<String, Value>) -> &Map<String, Value> {
    let literal = compiled.get(LITERAL).and_then(Value::as_object);
    literal.unwrap_or(compiled)
}

/// Whether a compiled template has something of its own beside expressions.
pub fn has_literals(compiled: &Value) -> bool {
    match compiled {
        Value::Array(items) => items.iter().any(has_literals),
        Value::Object(fields) => match fields.get(TEMPLATE).and_then(Value::as_array) {
            Some(parts) => parts.iter().any(Value::is_string),
            None => plain_fields(fields).values().any(has_literals),
        },
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// The value of a compiled template as a file has it.
pub fn compiled_source(compiled: &Value) -> Value {
    match compiled {
        Value::Array(items) => items.iter().map(compiled_source).collect(),
        Value::Object(fields) => match fields.get(TEMPLATE).and_then(Value::as_array) {
            Some(parts) => parts.iter().map(part_source).collect::<String>().into(),
            None => {
                let fields = plain_fields(fields).iter();
                let fields = fields.map(|(name, value)| (name.clone(), compiled_source(value)));
                Value::Object(fields.collect())
            }
        },
        other => other.clone(),
    }
}

fn part_source(part: &Value) -> String {
    match part.get(EXPRESSION).and_then(Value::as_str) {
        Some(expression) => format!("{{{{{expression}}}}}"),
        None => part.as_str().unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_with_expressions_is_taken_apart() {
        for (text, compiled) in [
            ("plain", json!("plain")),
            ("", json!("")),
            ("{{ not closed", json!("{{ not closed")),
            ("{{a}}", json!({ "$template": [{ "expression": "a" }] })),
            (
                "a {{ b }}c",
                json!({ "$template": ["a ", { "expression": " b " }, "c"] }),
            ),
            ("{{}}", json!({ "$template": [{ "expression": "" }] })),
        ] {
            assert_eq!(
                Template::compile(&json!(text)).as_value(),
                &compiled,
                "{text}"
            );
        }
    }

    #[test]
    fn objects_and_arrays_are_compiled_within_and_reserved_keys_told_apart() {
        let value = json!({ "a": ["{{b}}", 1, null], "c": { "$template": "{{d}}", "e": { "$literal": true } } });
        let compiled = json!({
            "a": [{ "$template": [{ "expression": "b" }] }, 1, null],
            "c": { "$literal": {
                "$template": { "$template": [{ "expression": "d" }] },
                "e": { "$literal": { "$literal": true } },
            } },
        });
        let template = Template::compile(&value);
        assert_eq!(template.as_value(), &compiled);
        assert_eq!(serde_json::to_value(&template).unwrap(), compiled);
        assert_eq!(template.to_source(), value);
        assert_eq!(template.to_literal(), None);
    }

    #[test]
    fn a_literal_is_the_value_whatever_it_looks_like() {
        let value = json!({ "$condition": 1, "text": "{{a}}" });
        let template = Template::literal(&value);
        assert_eq!(template.as_value(), &json!({ "$literal": value }));
        assert_eq!(template.to_literal(), Some(value));
    }

    #[test]
    fn what_stands_beside_expressions_is_known() {
        for (value, has_some) in [
            (json!(null), false),
            (json!("{{a}}"), false),
            (json!("{{a}}{{b}}"), false),
            (json!({ "a": "{{b}}", "c": [null, "{{d}}"] }), false),
            (json!("Bearer {{a}}"), true),
            (json!({ "a": "{{b}}", "c": 1 }), true),
            (json!({ "$template": "{{b}}" }), false),
        ] {
            assert_eq!(
                Template::compile(&value).has_literals(),
                has_some,
                "{value}"
            );
        }
    }

    #[test]
    fn a_value_without_expressions_is_known() {
        let value = json!({ "a": [1, { "$literal": "b" }], "c": "d" });
        assert_eq!(Template::compile(&value).to_literal(), Some(value));
    }

    fn values() -> impl Strategy<Value = Value> {
        let text = "([{}]{1,3}|[a-c$(\\[)/*`'\" ]){0,12}";
        let leaves = prop_oneof![
            text.prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<bool>().prop_map(Value::from),
            Just(Value::Null),
        ];
        let keys = "(\\$template|\\$literal|\\$condition|expression|a)";
        leaves.prop_recursive(4, 24, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((keys, inner), 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_template_printed_is_the_source(value in values()) {
            prop_assert_eq!(Template::compile(&value).to_source(), value);
        }

        #[test]
        fn a_literal_gives_its_value_back(value in values()) {
            prop_assert_eq!(Template::literal(&value).to_literal(), Some(value));
        }
    }
}
