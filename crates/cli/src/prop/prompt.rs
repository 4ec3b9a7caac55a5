//! Prompts for props: a value typed by hand, and how a prompt comes to nothing. They go to standard error, so that standard
//! output stays data.

use anyhow::Result;
use inquire::validator::{ErrorMessage, Validation};
use inquire::{InquireError, Password, Text};
use serde_json::Value;

use super::definition::{Element, PropDefinition};
use super::value;

/// The person ended a prompt with Esc or Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("stopped at prop {prop}; nothing was changed")]
pub(crate) struct Stopped {
    prop: String,
}

/// A value typed by hand; its faults are shown while it can still be corrected.
pub(super) fn ask_text(definition: &PropDefinition) -> Result<Value> {
    let message = message(definition);
    let checked = definition.clone();
    let validator = move |typed: &str| {
        Ok(match parse(&checked, typed) {
            Ok(_) => Validation::Valid,
            Err(reason) => Validation::Invalid(ErrorMessage::Custom(reason)),
        })
    };
    let typed = match definition.is_secret() {
        true => Password::new(&message)
            .without_confirmation()
            .with_validator(validator)
            .prompt(),
        false => Text::new(&message).with_validator(validator).prompt(),
    };
    let typed = typed.map_err(|error| failed(definition, error))?;
    parse(definition, &typed).map_err(anyhow::Error::msg)
}

/// The value, if the node will take it, or its fault.
fn parse(definition: &PropDefinition, typed: &str) -> Result<Value, String> {
    if typed.trim().is_empty() {
        return Err("a value is required".to_owned());
    }
    let value = value::parse(definition, typed).map_err(|invalid| invalid.reason)?;
    let checked = definition.check(&value);
    checked.map_err(|invalid| invalid.reason)?;
    Ok(value)
}

/// Says how to type a value that is not plain text.
fn message(definition: &PropDefinition) -> String {
    let form = match definition.element() {
        _ if definition.is_array() => " (comma-separated)",
        Element::Object | Element::Any => " (JSON)",
        Element::App
        | Element::Boolean
        | Element::Integer
        | Element::String
        | Element::Timer
        | Element::Provided => "",
    };
    format!("{}{form}:", definition.title())
}

/// Why a prompt came to nothing.
pub(super) fn failed(definition: &PropDefinition, error: InquireError) -> anyhow::Error {
    let prop = definition.name().to_owned();
    let is_stopped = matches!(
        error,
        InquireError::OperationCanceled | InquireError::OperationInterrupted
    );
    match is_stopped {
        true => Stopped { prop }.into(),
        false => anyhow::Error::new(error).context(format!("cannot ask for prop {prop}")),
    }
}
