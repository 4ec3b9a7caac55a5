//! A JSON value of a run: here, or in a blob beside its place.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The name of a value that is kept outside of its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// SHA-256 of the JSON text, hexadecimal.
    pub hash: String,
    /// Length of the JSON text.
    pub bytes: u64,
}

/// A JSON value that a run keeps.
#[derive(Debug, Clone)]
pub enum Kept {
    /// The text itself.
    Here(Arc<RawValue>),
    /// The text is in a blob, because it is large.
    Blob(Blob),
}

impl Kept {
    /// A small value that needs no reading.
    pub fn of(value: &serde_json::Value) -> Self {
        let text = serde_json::value::to_raw_value(value);
        Self::Here(text.map_or_else(|_| Arc::from(RawValue::NULL.to_owned()), Arc::from))
    }

    /// Length of the JSON text.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::Here(text) => text.get().len() as u64,
            Self::Blob(blob) => blob.bytes,
        }
    }

    /// The text, if it is here.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Here(text) => Some(text.get()),
            Self::Blob(_) => None,
        }
    }

    /// The blob, if the text is not here.
    pub fn blob(&self) -> Option<&Blob> {
        match self {
            Self::Here(_) => None,
            Self::Blob(blob) => Some(blob),
        }
    }
}

/// Equal if their texts are, or their blobs.
impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Here(one), Self::Here(two)) => one.get() == two.get(),
            (Self::Blob(one), Self::Blob(two)) => one == two,
            (Self::Here(_), Self::Blob(_)) | (Self::Blob(_), Self::Here(_)) => false,
        }
    }
}

impl Eq for Kept {}

/// `{"here": value}` or `{"blob": {"hash", "bytes"}}`: raw JSON survives an external tag only.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Written {
    Here(Box<RawValue>),
    Blob(Blob),
}

impl Serialize for Kept {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Here(text) => Written::Here((**text).to_owned()),
            Self::Blob(blob) => Written::Blob(blob.clone()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Kept {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Written::deserialize(deserializer)? {
            Written::Here(text) => Self::Here(Arc::from(text)),
            Written::Blob(blob) => Self::Blob(blob),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_survives_being_written_digit_for_digit() {
        let text = r#"{"here":{"b": 1.0,"a":"\u00e9"}}"#;
        let kept: Kept = serde_json::from_str(text).unwrap();
        assert_eq!(kept.text(), Some(r#"{"b": 1.0,"a":"\u00e9"}"#));
        assert_eq!(serde_json::to_string(&kept).unwrap(), text);
        let blob = json!({ "blob": { "hash": "ab", "bytes": 7 } });
        let kept: Kept = serde_json::from_value(blob.clone()).unwrap();
        assert_eq!(kept.bytes(), 7);
        assert_eq!(serde_json::to_value(&kept).unwrap(), blob);
    }
}
