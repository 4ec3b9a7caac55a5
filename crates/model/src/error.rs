//! The error that every rule of this crate gives for a value from outside.

use std::fmt;

/// A value from outside breaks a rule. Display reads `<field>: <reason>`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {reason}")]
pub struct Invalid {
    /// Dotted path of the field, as the caller wrote it (`configured_props.timer.cron`).
    pub field: String,
    /// The fault and the way to correct it.
    pub reason: String,
}

impl Invalid {
    /// The field and why its value cannot stand.
    pub fn new(field: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self {
            field: field.into(),
            reason: reason.to_string(),
        }
    }

    /// The same finding, seen from the object that holds the field.
    pub fn within(mut self, parent: &str) -> Self {
        self.field = if self.field.is_empty() {
            parent.to_owned()
        } else {
            format!("{parent}.{}", self.field)
        };
        self
    }
}
