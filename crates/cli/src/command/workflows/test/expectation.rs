//! The expectations of a test, and what of them does not hold.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::found::Found;

const STATUSES: [&str; 4] = ["succeeded", "failed", "cancelled", "waiting"];
const SENDS: [&str; 5] = ["http", "email", "s3", "emit", "sse"];

/// `expect` of a test: fields that are left out are not looked at, but for the status.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Expectation {
    status: Option<String>,
    path: Option<Vec<String>>,
    #[serde(default)]
    calls: BTreeMap<String, usize>,
    #[serde(default)]
    props: BTreeMap<String, Value>,
    #[serde(default)]
    returns: BTreeMap<String, Value>,
    #[serde(default)]
    exports: BTreeMap<String, Value>,
    error: Option<Value>,
    sends: Option<Vec<Map<String, Value>>>,
    pub(super) response: Option<Value>,
}

/// Something that is not as expected.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Difference {
    pub(super) what: String,
    pub(super) expected: Value,
    pub(super) found: Value,
}

impl Difference {
    pub(super) fn new(
        what: impl Into<String>,
        expected: impl Into<Value>,
        found: impl Into<Value>,
    ) -> Self {
        Self {
            what: what.into(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

impl Expectation {
    /// # Errors
    /// A value that no run could have.
    pub(super) fn check(&self) -> Result<()> {
        if let Some(status) = self
            .status
            .as_deref()
            .filter(|status| !STATUSES.contains(status))
        {
            bail!("status: `{status}` is not one of {}", STATUSES.join(", "));
        }
        for send in self.sends.iter().flatten() {
            let is_known = |kind: &String| SENDS.contains(&kind.as_str());
            if send.len() != 1 || !send.keys().all(is_known) {
                let text = Value::Object(send.clone());
                bail!(
                    "sends: {text} is not one of {} with its arguments",
                    SENDS.join(", ")
                );
            }
        }
        Ok(())
    }

    /// The namespaces that are named.
    pub(super) fn namespaces(&self) -> impl Iterator<Item = &String> {
        let named = self.calls.keys().chain(self.props.keys());
        named.chain(self.returns.keys()).chain(self.exports.keys())
    }

    /// Everything that is not as expected.
    pub(super) fn differences(&self, found: &Found) -> Vec<Difference> {
        let mut differences = Vec::new();
        let status = match (&self.status, &self.error) {
            (Some(status), _) => status,
            (None, Some(_)) => "failed",
            (None, None) => "succeeded",
        };
        if status != found.status {
            let error = found.error.as_ref().map(|error| error["message"].clone());
            let shown = match error.as_ref().and_then(Value::as_str) {
                Some(error) => format!("{}: {error}", found.status),
                None => found.status.to_owned(),
            };
            differences.push(Difference::new("status", status, shown));
        }
        if let Some(path) = self.path.as_ref().filter(|path| **path != found.path) {
            differences.push(Difference::new("path", path.clone(), found.path.clone()));
        }
        differences.extend(self.of_steps(found));
        let error = found.error.clone().unwrap_or_default();
        if let Some(expected) = self
            .error
            .as_ref()
            .filter(|expected| !is_error(expected, &error))
        {
            differences.push(Difference::new("error", expected.clone(), error));
        }
        if let Some(expected) = &self.sends {
            let expected: Vec<Value> = expected.iter().cloned().map(Value::Object).collect();
            differences.extend(differing(
                "sends",
                &expected.into(),
                &found.sends.clone().into(),
            ));
        }
        if let Some(expected) = &self.response {
            let response = found.response.clone().unwrap_or_default();
            differences.extend(differing("response", expected, &response));
        }
        differences
    }

    fn of_steps(&self, found: &Found) -> Vec<Difference> {
        let mut differences = Vec::new();
        for (namespace, expected) in &self.calls {
            let calls = found.calls_of(namespace).len();
            if calls != *expected {
                differences.push(Difference::new(
                    format!("calls.{namespace}"),
                    *expected,
                    calls,
                ));
            }
        }
        for (namespace, expected) in &self.props {
            let calls = found.calls_of(namespace).into_iter();
            let mut calls = calls.map(|call| call.props.clone());
            let props = match expected.is_array() {
                true => calls.collect::<Vec<_>>().into(),
                false => calls.next_back().unwrap_or_else(|| json!("not called")),
            };
            differences.extend(differing(&format!("props.{namespace}"), expected, &props));
        }
        let values = [
            ("returns", &self.returns, &found.returns),
            ("exports", &self.exports, &found.exports),
        ];
        for (what, expected, found) in values {
            for (namespace, expected) in expected {
                let value = found.get(namespace).cloned().unwrap_or_default();
                differences.extend(differing(&format!("{what}.{namespace}"), expected, &value));
            }
        }
        differences
    }
}

fn differing(what: &str, expected: &Value, found: &Value) -> Option<Difference> {
    let is_found = is_part_of(expected, found);
    (!is_found).then(|| Difference::new(what, expected.clone(), found.clone()))
}

/// Text is a part of the message, by itself and as the field; the other fields are the same.
fn is_error(expected: &Value, error: &Value) -> bool {
    let is_in_message = |text: &str| {
        let message = error["message"].as_str();
        message.is_some_and(|message| message.contains(text))
    };
    match expected {
        Value::String(text) => is_in_message(text),
        Value::Object(fields) => {
            fields
                .iter()
                .all(|(name, value)| match (name.as_str(), value.as_str()) {
                    ("message", Some(text)) => is_in_message(text),
                    _ => is_part_of(value, &error[name]),
                })
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
    }
}

/// Whether a value is as expected: objects may have further fields, everything else is the same.
pub(super) fn is_part_of(expected: &Value, found: &Value) -> bool {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected
            .iter()
            .all(|(name, value)| is_part_of(value, found.get(name).unwrap_or(&Value::Null))),
        (Value::Array(expected), Value::Array(found)) => {
            expected.len() == found.len()
                && expected
                    .iter()
                    .zip(found)
                    .all(|(expected, found)| is_part_of(expected, found))
        }
        (Value::Number(expected), Value::Number(found)) => {
            expected == found || expected.as_f64() == found.as_f64()
        }
        (expected, found) => expected == found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_may_have_further_fields_and_lists_may_not() {
        for (expected, found, is_part) in [
            (json!({ "a": 1 }), json!({ "a": 1.0, "b": 2 }), true),
            (
                json!({ "a": { "b": [] } }),
                json!({ "a": { "b": [] } }),
                true,
            ),
            (json!({ "a": null }), json!({}), true),
            (json!({ "a": 1 }), json!({ "a": "1" }), false),
            (json!([1]), json!([1, 2]), false),
            (json!([{ "a": 1 }]), json!([{ "a": 1, "b": 2 }]), true),
        ] {
            assert_eq!(is_part_of(&expected, &found), is_part, "{expected} {found}");
        }
    }

    #[test]
    fn a_run_is_expected_to_succeed_unless_an_error_is() {
        let failed = Found {
            status: "failed",
            error: Some(json!({ "message": "no such channel", "name": "Error", "step": "tell" })),
            ..Found::default()
        };
        let differences = |given: Value| {
            serde_json::from_value::<Expectation>(given)
                .unwrap()
                .differences(&failed)
        };
        let told = Difference::new("status", "succeeded", "failed: no such channel");
        assert_eq!(differences(json!({})), [told]);
        for error in [
            json!("channel"),
            json!({ "step": "tell" }),
            json!({ "message": "no such", "name": "Error", "code": null }),
        ] {
            assert_eq!(differences(json!({ "error": error })), []);
        }
        for error in [
            json!("channels"),
            json!({ "message": "channels" }),
            json!({ "step": "ask" }),
        ] {
            assert_eq!(differences(json!({ "error": error }))[0].what, "error");
        }
    }
}
