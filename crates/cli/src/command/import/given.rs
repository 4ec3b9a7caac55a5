//! Values of props that are given on the command line because the service does not give them.

use std::collections::BTreeMap;

use anyhow::Result;
use headwater_model::prop::{InputType, PropDefinition, PropKind};
use serde_json::Value;

use crate::at_file;
use crate::secret;
use crate::source::text;
use crate::usage_error::UsageError;

/// Texts by the name of a source and of a prop.
pub(super) struct GivenProps(BTreeMap<(String, String), String>);

impl GivenProps {
    pub(super) fn read(typed: &[String]) -> Result<Self> {
        let mut given = BTreeMap::new();
        for prop in typed {
            let (name, value) = match prop.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (prop.as_str(), None),
            };
            let Some((source, prop)) = name.rsplit_once('.') else {
                return Err(UsageError(format!(
                    "--prop {name} names no source; write --prop SOURCE.PROP=VALUE"
                ))
                .into());
            };
            let value = match value {
                Some(value) => at_file::read(value, name)?,
                None => secret::ask(
                    name,
                    &format!("--prop {name} has no value; write --prop {name}=VALUE"),
                )?,
            };
            given.insert((source.to_owned(), prop.to_owned()), value);
        }
        Ok(Self(given))
    }

    /// Refuses values for sources that the service does not have: a mistake in a name would look like a value that is
    /// still missing.
    pub(super) fn refuse_unknown(&self, sources: &[Value]) -> Result<(), UsageError> {
        for (name, prop) in self.0.keys() {
            if !sources.iter().any(|source| is_called(source, name)) {
                return Err(UsageError(format!(
                    "--prop {name}.{prop}: the service has no source with the id, name slug or name {name}"
                )));
            }
        }
        Ok(())
    }

    pub(super) fn text(&self, source: &Value, prop: &str) -> Option<&str> {
        let mut given = self.0.iter();
        let found = given.find(|((name, of), _)| of == prop && is_called(source, name));
        found.map(|(_, value)| value.as_str())
    }

    /// The value for a prop that is not an app's.
    pub(super) fn value(&self, source: &Value, definition: &PropDefinition) -> Option<Value> {
        let text = self.text(source, &definition.name)?;
        let is_text = definition.kind() == PropKind::DataStore
            || matches!(
                definition.input_type(),
                Some(InputType::String | InputType::Sql | InputType::Unknown)
            );
        Some(match is_text && !definition.is_list() {
            true => text.into(),
            // The node judges whether it fits.
            false => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
        })
    }

    /// The values for a source's props that no definition names, such as computed ones.
    pub(super) fn others<'a>(
        &'a self,
        source: &'a Value,
        definitions: &'a [PropDefinition],
    ) -> impl Iterator<Item = (&'a str, Value)> {
        let given = self.0.iter();
        given
            .filter(|((name, prop), _)| {
                is_called(source, name) && !definitions.iter().any(|known| known.name == *prop)
            })
            .map(|((_, prop), value)| {
                let parsed = serde_json::from_str(value);
                (
                    prop.as_str(),
                    parsed.unwrap_or_else(|_| value.as_str().into()),
                )
            })
    }
}

fn is_called(source: &Value, name: &str) -> bool {
    ["id", "name_slug", "name"]
        .iter()
        .any(|field| text(source, field) == name)
}
