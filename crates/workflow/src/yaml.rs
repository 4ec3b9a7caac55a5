//! YAML 1.2 with positions: the value of one document, each part with its line and column.
//!
//! Responsible for the core schema, for keys that are given twice, and for bounds: of size, of depth, and of what
//! aliases expand to. Not responsible for the meaning of any key.

mod load;
mod node;
mod scalar;

#[cfg(test)]
mod tests;

pub use self::{load::InvalidYaml, node::Position};
pub(crate) use self::{
    load::load,
    node::{Content, Entry, Yaml},
};

/// The value of a text's only document, without its places.
///
/// # Errors
/// The first fault.
pub fn value(text: &str) -> Result<serde_json::Value, InvalidYaml> {
    Ok(load(text)?.to_json())
}
