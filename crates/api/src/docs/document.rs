//! Reading the OpenAPI document: its operations, and values that may be missing or references.

use serde_json::{Map, Value};

/// One method of one path.
pub(super) struct Operation<'a> {
    pub(super) method: &'a str,
    pub(super) path: &'a str,
    /// Its object in the document.
    pub(super) said: &'a Value,
}

impl<'a> Operation<'a> {
    pub(super) fn id(&self) -> &'a str {
        text_of(&self.said["operationId"])
    }

    pub(super) fn summary(&self) -> &'a str {
        text_of(&self.said["summary"])
    }
}

/// The target of a reference, or the value itself.
pub(super) fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    let target = value["$ref"].as_str().and_then(|to| to.strip_prefix('#'));
    target
        .and_then(|pointer| document.pointer(pointer))
        .unwrap_or(value)
}

pub(super) fn text_of(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub(super) fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

pub(super) fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let fields = value.as_object().into_iter().flat_map(Map::iter);
    fields.map(|(name, value)| (name.as_str(), value))
}
