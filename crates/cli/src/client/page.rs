//! A page of a list: the envelope.

use serde::Deserialize;
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Page {
    pub(crate) page_info: PageInfo,
    pub(crate) data: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct PageInfo {
    pub(crate) start_cursor: Option<String>,
    pub(crate) end_cursor: Option<String>,
    /// Whether the node stopped before the page was full.
    pub(crate) is_cut: bool,
    /// Whether the node did not look at all that may belong to the list.
    pub(crate) is_partial: bool,
}
