//! Values as later steps see them, put together from what the places keep.

use serde_json::Value;

use super::kept::Kept;

/// A value, possibly with parts that are in blobs.
#[derive(Debug, Clone, PartialEq)]
pub enum Exported {
    /// A value that a place keeps.
    Kept(Kept),
    /// An item of an array that a loop keeps.
    Item {
        /// The array.
        items: Kept,
        /// The item's index.
        index: u32,
    },
    /// A small value that the platform states.
    Json(Value),
    /// An object, in this order.
    Object(Vec<(String, Exported)>),
    /// An array.
    Array(Vec<Exported>),
}

impl Exported {
    /// The field of an object.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Self::Object(fields) = self else {
            return None;
        };
        let mut found = fields.iter().filter(|(key, _)| key == name);
        found.next().map(|(_, value)| value)
    }

    /// The blobs that it is put together from.
    pub fn blobs(&self) -> Vec<&super::kept::Blob> {
        match self {
            Self::Kept(Kept::Blob(blob))
            | Self::Item {
                items: Kept::Blob(blob),
                ..
            } => vec![blob],
            Self::Kept(_) | Self::Item { .. } | Self::Json(_) => Vec::new(),
            Self::Object(fields) => fields.iter().flat_map(|(_, value)| value.blobs()).collect(),
            Self::Array(values) => values.iter().flat_map(Self::blobs).collect(),
        }
    }

    /// Appends the JSON text; `blob` gives the text of a blob.
    ///
    /// # Errors
    /// A blob is missing, or a loop keeps something else than an array.
    pub fn write<E>(
        &self,
        to: &mut String,
        blob: &impl Fn(&super::kept::Blob) -> Result<std::sync::Arc<str>, E>,
    ) -> Result<(), E> {
        match self {
            Self::Kept(Kept::Here(text)) => to.push_str(text.get()),
            Self::Kept(Kept::Blob(named)) => to.push_str(&blob(named)?),
            Self::Item {
                items: Kept::Here(text),
                index,
            } => to.push_str(item(text.get(), *index)),
            Self::Item {
                items: Kept::Blob(named),
                index,
            } => to.push_str(item(&blob(named)?, *index)),
            Self::Json(value) => to.push_str(&value.to_string()),
            Self::Object(fields) => {
                to.push('{');
                for (number, (name, value)) in fields.iter().enumerate() {
                    to.push_str(if number == 0 { "" } else { "," });
                    to.push_str(&Value::from(name.as_str()).to_string());
                    to.push(':');
                    value.write(to, blob)?;
                }
                to.push('}');
            }
            Self::Array(values) => {
                to.push('[');
                for (number, value) in values.iter().enumerate() {
                    to.push_str(if number == 0 { "" } else { "," });
                    value.write(to, blob)?;
                }
                to.push(']');
            }
        }
        Ok(())
    }
}

/// The item of an array, as JSON text.
fn item(array: &str, index: u32) -> &str {
    let items: Vec<&serde_json::value::RawValue> = serde_json::from_str(array).unwrap_or_default();
    items.get(index as usize).map_or("null", |item| item.get())
}
