//! Conditions: `if`, branches, cases and filters.

use std::fmt;

use headwater_javascript::embedded::{Part, parts};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    compiled::{Template, compiled_source},
    operator::Operator,
    rules::{self, RULES_HINT},
};

/// A compiled condition: `{"expression"}`, `{"and"}`, `{"or"}`, `{"not"}` or `{"op", "a", "b"?}`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Condition(Value);

/// The value is not a condition.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCondition(String);

impl Condition {
    /// A condition of a file: `"{{ … }}"`, `true`, `false`, or Pipedream's rules.
    ///
    /// # Errors
    /// It is something else, or its rules are wrong.
    pub fn compile(value: &Value) -> Result<Self, InvalidCondition> {
        Self::compile_about(value, None)
    }

    /// The same, for rules that may leave out `a` because all of them look at one value.
    ///
    /// # Errors
    /// As [`Condition::compile`].
    pub fn compile_about(
        value: &Value,
        subject: Option<&Template>,
    ) -> Result<Self, InvalidCondition> {
        match value {
            Value::Bool(value) => Ok(Self::constant(*value)),
            Value::String(text) => match text.as_str() {
                "true" => Ok(Self::constant(true)),
                "false" => Ok(Self::constant(false)),
                text => Self::of_text(text),
            },
            value if rules::is_rules(value) => match rules::compile(value, subject) {
                Ok(compiled) => Ok(Self(compiled)),
                Err(error) => Err(InvalidCondition(error.to_string())),
            },
            other => Err(Self::unknown(&other.to_string())),
        }
    }

    fn of_text(text: &str) -> Result<Self, InvalidCondition> {
        match single_expression(text) {
            Some(expression) => Ok(Self::expression(expression)),
            None => Err(Self::unknown(&format!("`{text}`"))),
        }
    }

    fn unknown(found: &str) -> InvalidCondition {
        InvalidCondition(format!(
            "a condition is one expression \"{{{{ … }}}}\", true, false, or rules {RULES_HINT}; it is {found}"
        ))
    }

    /// An expression that is truthy.
    pub fn expression(text: &str) -> Self {
        Self(json!({ "expression": text }))
    }

    /// Always, or never.
    pub fn constant(value: bool) -> Self {
        Self(json!({ "expression": value.to_string() }))
    }

    /// A rule of two values.
    pub fn compare(operator: Operator, a: &Template, b: &Template) -> Self {
        Self(json!({ "op": operator, "a": a, "b": b }))
    }

    /// The opposite.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self(json!({ "not": self }))
    }

    /// Both of them.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        Self(json!({ "and": [self, other] }))
    }

    /// Its compiled form.
    pub fn as_value(&self) -> &Value {
        &self.0
    }
}

/// The condition as people read it: `{{ }}` around expressions, and the words of operators between values.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&shown(&self.0))
    }
}

fn shown(compiled: &Value) -> String {
    let listed = |items: &[Value], word: &str| {
        let items: Vec<String> = items.iter().map(shown_within).collect();
        items.join(word)
    };
    if let Some(expression) = compiled["expression"].as_str() {
        return match expression {
            "true" => "always".to_owned(),
            "false" => "never".to_owned(),
            expression => format!("{{{{{expression}}}}}"),
        };
    }
    if let Some(items) = compiled["and"].as_array() {
        return match items.is_empty() {
            true => "always".to_owned(),
            false => listed(items, " and "),
        };
    }
    if let Some(items) = compiled["or"].as_array() {
        return match items.is_empty() {
            true => "never".to_owned(),
            false => listed(items, " or "),
        };
    }
    if let Some(other) = compiled.get("not") {
        return format!("not {}", shown_within(other));
    }
    let values = [compiled.get("a"), Some(&compiled["op"]), compiled.get("b")];
    let values = values.into_iter().flatten().map(compiled_source);
    let values = values.map(|value| match value {
        Value::String(text) => text,
        other => other.to_string(),
    });
    values.collect::<Vec<_>>().join(" ")
}

/// The same within another condition.
fn shown_within(compiled: &Value) -> String {
    let is_joined = compiled.get("and").is_some() || compiled.get("or").is_some();
    match is_joined {
        true => format!("({})", shown(compiled)),
        false => shown(compiled),
    }
}

/// The expression that a text consists of, but for space around it.
pub(crate) fn single_expression(text: &str) -> Option<&str> {
    match parts(text.trim())[..] {
        [Part::Expression(expression)] => Some(expression),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compiled(value: Value) -> Value {
        Condition::compile(&value).unwrap().as_value().clone()
    }

    #[test]
    fn an_expression_and_a_constant_are_conditions() {
        assert_eq!(
            compiled(json!(" {{ a > 1 }}\n")),
            json!({ "expression": " a > 1 " })
        );
        assert_eq!(compiled(json!(true)), json!({ "expression": "true" }));
        assert_eq!(compiled(json!("false")), json!({ "expression": "false" }));
    }

    #[test]
    fn rules_nest_and_leave_out_what_an_operator_does_not_take() {
        let rules = json!({ "t": "and", "r": [
            { "a": "{{steps.a.b}}", "op": "str/", "b": "/output/" },
            { "t": "or", "r": [{ "a": "{{c}}", "op": "exists", "b": "" }, { "a": 1, "op": "number_less", "b": "{{d}} " }] },
        ] });
        assert_eq!(
            compiled(rules),
            json!({ "and": [
                { "op": "text_matches", "a": { "$template": [{ "expression": "steps.a.b" }] }, "b": "/output/" },
                { "or": [
                    { "op": "exists", "a": { "$template": [{ "expression": "c" }] } },
                    { "op": "number_less", "a": 1, "b": { "$template": [{ "expression": "d" }, " "] } },
                ] },
            ] })
        );
        assert_eq!(
            compiled(json!({ "a": 1, "op": "is_number" })),
            json!({ "op": "is_number", "a": 1 })
        );
        assert_eq!(compiled(json!({ "r": [] })), json!({ "and": [] }));
    }

    #[test]
    fn a_condition_is_shown_with_its_words() {
        for (value, expected) in [
            (json!("{{ a > 1 }}"), "{{ a > 1 }}"),
            (json!(true), "always"),
            (json!({ "r": [] }), "always"),
            (
                json!({ "t": "and", "r": [
                    { "a": "{{x}}", "op": "text_equals", "b": "y z" },
                    { "t": "or", "r": [{ "a": "{{c}}", "op": "exists" }, { "a": 1, "op": "number_less", "b": "{{d}}" }] },
                ] }),
                "{{x}} text_equals y z and ({{c}} exists or 1 number_less {{d}})",
            ),
        ] {
            assert_eq!(Condition::compile(&value).unwrap().to_string(), expected);
        }
        let negated = Condition::expression("a").negated();
        assert_eq!(negated.to_string(), "not {{a}}");
    }

    #[test]
    fn rules_of_a_switch_look_at_its_value() {
        let on = Template::expression("a");
        let rules = json!({ "t": "OR", "r": [{ "op": "text_blank" }] });
        let condition = Condition::compile_about(&rules, Some(&on)).unwrap();
        assert_eq!(
            condition.as_value(),
            &json!({ "or": [{ "op": "text_blank", "a": on }] })
        );
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        for (value, message) in [
            (json!("steps.a"), "it is `steps.a`"),
            (json!("{{a}} && {{b}}"), "it is `{{a}} && {{b}}`"),
            (json!(1), "it is 1"),
            (json!({ "a": 1 }), "it is {\"a\":1}"),
            (json!({ "t": "xor", "r": [] }), "and not `xor`"),
            (
                json!({ "r": [{ "op": "like", "a": 1 }] }),
                "the operator `like` is unknown",
            ),
            (json!({ "op": 1, "a": 1 }), "the operator `1` is unknown"),
            (json!({ "op": "equals", "a": 1 }), "a rule has no `b`"),
            (json!({ "op": "exists" }), "a rule has no `a`"),
            (json!({ "r": 1 }), "expected rules"),
            (json!({ "r": [1] }), "expected rules"),
        ] {
            let error = Condition::compile(&value).unwrap_err().to_string();
            assert!(error.contains(message), "{value}: {error}");
        }
    }

    #[test]
    fn conditions_are_put_together() {
        let (a, b) = (Condition::expression("a"), Condition::constant(true));
        assert_eq!(
            a.and(&b.negated()).as_value(),
            &json!({ "and": [{ "expression": "a" }, { "not": { "expression": "true" } }] })
        );
        let (a, b) = (Template::expression("a"), Template::literal(&json!(1)));
        let equals = Condition::compare(Operator::Equals, &a, &b);
        assert_eq!(
            equals.as_value(),
            &json!({ "op": "equals", "a": a, "b": 1 })
        );
    }
}
