//! A deployed source as a test holds it.

use serde_json::Value;

/// A source's record as the API answered it.
#[derive(Debug, Clone)]
pub struct Source {
    /// Its `dc_…` id.
    pub id: String,
    /// The record.
    pub record: Value,
}

impl Source {
    /// From the `data` of an answer.
    #[track_caller]
    pub fn new(record: Value) -> Self {
        let id = record["id"]
            .as_str()
            .unwrap_or_else(|| panic!("no source: {record}"));
        Self {
            id: id.to_owned(),
            record,
        }
    }

    /// Its path in the API.
    pub fn path(&self) -> String {
        format!("/sources/{}", self.id)
    }

    /// The URL of its HTTP interface `http`.
    #[track_caller]
    pub fn endpoint(&self) -> &str {
        let url = &self.record["configured_props"]["http"]["endpoint_url"];
        url.as_str()
            .unwrap_or_else(|| panic!("no endpoint in {}", self.record))
    }
}
