//! Pipedream's rules: `{t: and, r: [{a, op, b}, …]}`, nested as deep as need be.

use serde_json::{Map, Value, json};

use super::{
    compiled::Template,
    operator::{Operator, UnknownOperator},
};

/// The form of rules, for messages.
pub(super) const RULES_HINT: &str = "{t: and, r: [{a: \"{{…}}\", op: text_equals, b: …}]}";

/// Why values are not rules.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum InvalidRules {
    #[error("expected rules such as `{RULES_HINT}`, and there is {0}")]
    NotRules(String),
    #[error("`t` of rules is `and` or `or`, and not {0}")]
    UnknownKind(String),
    #[error("a rule has no `{0}`: {{a: \"{{{{…}}}}\", op: text_equals, b: …}}")]
    Missing(&'static str),
    #[error(transparent)]
    Operator(#[from] UnknownOperator),
}

/// Whether a value has the form of rules, good or bad.
pub(super) fn is_rules(value: &Value) -> bool {
    let is_there = |key| value.get(key).is_some();
    is_there("r") || is_there("t") || is_there("op")
}

/// The compiled condition of rules. Rules without `a` look at `subject`, as those of a `switch` do.
pub(super) fn compile(value: &Value, subject: Option<&Template>) -> Result<Value, InvalidRules> {
    let not_rules = || InvalidRules::NotRules(value.to_string());
    let fields = value.as_object().ok_or_else(not_rules)?;
    if fields.contains_key("op") {
        return rule(fields, subject);
    }
    let rules = fields.get("r").and_then(Value::as_array);
    let rules = rules.ok_or_else(not_rules)?.iter();
    let compiled: Vec<Value> = rules
        .map(|rule| compile(rule, subject))
        .collect::<Result<_, _>>()?;
    let kind = fields.get("t").and_then(Value::as_str).unwrap_or("and");
    match kind.to_ascii_lowercase().as_str() {
        kind @ ("and" | "or") => Ok(json!({ kind: compiled })),
        _ => Err(InvalidRules::UnknownKind(format!("`{kind}`"))),
    }
}

fn rule(fields: &Map<String, Value>, subject: Option<&Template>) -> Result<Value, InvalidRules> {
    let operator = match &fields["op"] {
        Value::String(name) => name.parse::<Operator>()?,
        other => other.to_string().parse()?,
    };
    let compiled = fields.get("a").map(Template::compile);
    let a = compiled.as_ref().or(subject);
    let a = a.ok_or(InvalidRules::Missing("a"))?;
    let mut rule = json!({ "op": operator, "a": a });
    if operator.takes_b() {
        let b = fields.get("b").ok_or(InvalidRules::Missing("b"))?;
        rule["b"] = Template::compile(b).into_value();
    }
    Ok(rule)
}
