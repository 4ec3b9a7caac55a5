//! Reading values of a test's file, with the field in each error.

use anyhow::{Result, anyhow};
use serde::Deserialize;
use serde_json::Value;

/// Reads a value of a test's file.
///
/// # Errors
/// It is not of that form; the error names the field.
pub(super) fn read<'de, T: Deserialize<'de>>(value: &'de Value) -> Result<T> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let reason = error.into_inner();
        match path.as_str() {
            "." => anyhow!(reason),
            _ => anyhow!("{path}: {reason}"),
        }
    })
}
