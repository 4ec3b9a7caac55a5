//! The types of values that people enter. Whether a value is of its prop's type is not decided here.

/// Type of a value that somebody enters, or of each item of a list of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// True or false.
    Boolean,
    /// A JSON object.
    Object,
    /// Any JSON value.
    Any,
    /// A query of a database.
    Sql,
    /// A type that means nothing here: its values are taken as they are configured.
    Unknown,
}

impl InputType {
    /// The type of that name.
    pub(super) fn of(name: &str) -> Self {
        match name {
            "string" => Self::String,
            "integer" => Self::Integer,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "any" => Self::Any,
            "sql" => Self::Sql,
            _ => Self::Unknown,
        }
    }
}
