//! Data stores: the rules for their names and records.
//!
//! Not responsible for where records are kept, nor for how long.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::limits::{DATA_STORE_KEY_BYTES, DATA_STORE_NAME_CHARS, DATA_STORE_VALUE_BYTES};

/// A data store's name, with which components are configured. Any text that a person can tell from
/// another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DataStoreName(String);

/// The reason why a text is not a name of a data store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidDataStore(String);

impl DataStoreName {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for DataStoreName {
    type Err = InvalidDataStore;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let fault = if text.trim().is_empty() {
            "a data store's name is empty; give any name, and the first write creates the store"
        } else if text.chars().count() > DATA_STORE_NAME_CHARS {
            "a data store's name has at most 100 characters"
        } else if text.trim() != text || text.chars().any(char::is_control) {
            "a data store's name has no control characters, and no space at its ends"
        } else if matches!(text, "." | "..") {
            "a data store's name must not consist of dots only"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(InvalidDataStore(fault.to_owned()))
    }
}

impl TryFrom<String> for DataStoreName {
    type Error = InvalidDataStore;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<DataStoreName> for String {
    fn from(name: DataStoreName) -> Self {
        name.0
    }
}

impl fmt::Display for DataStoreName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Checks a record that is about to be written: its key, and its value as JSON text.
///
/// # Errors
/// The one of the two that is over its limit.
pub fn check_record(key: &str, value: &str) -> Result<(), InvalidDataStore> {
    check_key(key)?;
    if value.len() > DATA_STORE_VALUE_BYTES {
        return Err(InvalidDataStore(format!(
            "the value of `{key}` is {} bytes; a record may have at most {DATA_STORE_VALUE_BYTES}",
            value.len()
        )));
    }
    Ok(())
}

/// Checks a record's key.
///
/// # Errors
/// It is empty or too long.
pub fn check_key(key: &str) -> Result<(), InvalidDataStore> {
    match key.len() {
        0 => Err(InvalidDataStore("a record's key is empty".to_owned())),
        length if length > DATA_STORE_KEY_BYTES => Err(InvalidDataStore(format!(
            "a record's key is {length} bytes; it may have at most {DATA_STORE_KEY_BYTES}"
        ))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_text_that_people_can_tell_apart() {
        for name in ["orders", "Großkunden & more", "a/b", "…", &"x".repeat(100)] {
            assert_eq!(name.parse::<DataStoreName>().unwrap().as_str(), name);
        }
        for name in [
            "",
            "  ",
            " a",
            "a\n",
            "a\u{0}b",
            ".",
            "..",
            &"x".repeat(101),
        ] {
            name.parse::<DataStoreName>().expect_err(name);
        }
    }

    #[test]
    fn a_record_over_its_limit_is_refused_with_the_limit() {
        check_record(&"k".repeat(DATA_STORE_KEY_BYTES), "null").unwrap();
        check_record("k", &"1".repeat(DATA_STORE_VALUE_BYTES)).unwrap();
        let long_key = check_record(&"k".repeat(DATA_STORE_KEY_BYTES + 1), "1").unwrap_err();
        assert!(long_key.to_string().contains("1024"), "{long_key}");
        let large = check_record("k", &"1".repeat(DATA_STORE_VALUE_BYTES + 1)).unwrap_err();
        assert!(large.to_string().contains("1048576"), "{large}");
        check_record("", "1").unwrap_err();
    }
}
