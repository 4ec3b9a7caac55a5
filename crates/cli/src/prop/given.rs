//! Values of props as given on the command line, `--prop` and `--props-file`, before the component's
//! definitions are known: they stay text until their prop tells their type.

use std::path::Path;

use anyhow::{Context as _, Result};
use serde_json::{Map, Value};

use super::definition::PropDefinition;
use super::value::{self, InvalidValue};
use crate::arguments::PropArguments;
use crate::usage_error::UsageError;

/// Values given by prop, in the order given; each is taken once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given(Vec<(String, GivenValue)>);

#[derive(Debug, Clone, PartialEq)]
enum GivenValue {
    /// Out of the file.
    Json(Value),
    /// Out of a flag.
    Text(String),
}

impl Given {
    pub(crate) fn read(arguments: &PropArguments) -> Result<Self> {
        let from_file = match &arguments.props_file {
            Some(path) => read_file(path)?,
            None => Map::new(),
        };
        let mut given = Self::default();
        for (name, value) in from_file {
            given.put(name, GivenValue::Json(value));
        }
        for prop in &arguments.props {
            let (name, text) = split(prop)?;
            given.put(name, GivenValue::Text(text));
        }
        Ok(given)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The first value that nobody has taken.
    pub(super) fn left_over(&self) -> Option<&str> {
        self.0.first().map(|(name, _)| name.as_str())
    }

    /// The value for a prop, if one was given.
    pub(super) fn take(
        &mut self,
        definition: &PropDefinition,
    ) -> Result<Option<Value>, InvalidValue> {
        let found = self
            .0
            .iter()
            .position(|(name, _)| name == definition.name());
        let Some(index) = found else {
            return Ok(None);
        };
        let value = match self.0.remove(index).1 {
            GivenValue::Json(value) => value::from_json(definition, value),
            GivenValue::Text(text) => value::parse(definition, &text),
        };
        value.map(Some)
    }

    /// All values that nobody has taken, for props of an unknown type: JSON where a text is JSON.
    pub(super) fn take_untyped(&mut self) -> impl Iterator<Item = (String, Value)> {
        let taken = std::mem::take(&mut self.0).into_iter();
        taken.map(|(name, value)| match value {
            GivenValue::Json(value) => (name, value),
            GivenValue::Text(text) => (name, serde_json::from_str(&text).unwrap_or(text.into())),
        })
    }

    /// A flag wins over the file, and over the same flag before it.
    fn put(&mut self, name: String, value: GivenValue) {
        self.0.retain(|(known, _)| *known != name);
        self.0.push((name, value));
    }
}

fn split(prop: &str) -> Result<(String, String), UsageError> {
    match prop.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(UsageError(format!(
            "--prop {prop} has no value; write --prop NAME=VALUE"
        ))),
    }
}

fn read_file(path: &Path) -> Result<Map<String, Value>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read the props in {}", path.display()))?;
    let props = serde_json::from_str(&text)
        .map_err(|error| UsageError(format!("{} is not a JSON object: {error}", path.display())))?;
    Ok(props)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_a_name_and_a_value_that_may_hold_equals_signs() {
        assert_eq!(split("a=b=c").unwrap(), ("a".into(), "b=c".into()));
        assert_eq!(split("a=").unwrap(), ("a".into(), String::new()));
        assert!(split("a").is_err());
        assert!(split("=a").is_err());
    }

    #[test]
    fn the_last_value_given_for_a_prop_counts_and_is_taken_once() {
        let arguments = PropArguments {
            props: vec!["a=1".to_owned(), "b=2".to_owned(), "a=3".to_owned()],
            props_file: None,
        };
        let mut given = Given::read(&arguments).unwrap();
        let definition: PropDefinition =
            serde_json::from_str(r#"{"name": "a", "type": "integer"}"#).unwrap();
        assert_eq!(given.take(&definition).unwrap(), Some(Value::from(3)));
        assert_eq!(given.take(&definition).unwrap(), None);
        assert_eq!(given.left_over(), Some("b"));
        given.put("c".into(), GivenValue::Text("text".into()));
        let untyped: Vec<_> = given.take_untyped().collect();
        assert_eq!(
            untyped,
            [("b".into(), 2.into()), ("c".into(), "text".into())]
        );
        assert_eq!(given.left_over(), None);
    }
}
