//! Answers to HTTP requests.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

/// An answer to the HTTP request that triggered a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Response {
    /// 100 to 599, as the component gave it.
    pub status: u16,
    /// Header names and values, repeated names allowed.
    pub headers: Vec<(String, String)>,
    /// The body, which is never part of JSON.
    #[serde(skip)]
    pub body: Bytes,
}
