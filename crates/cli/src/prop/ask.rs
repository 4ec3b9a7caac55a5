//! Asking for a prop's value on a terminal: one prompt per kind of prop. Which props are asked
//! for is decided elsewhere; prompts go to standard error, so standard output stays data.

use std::io::IsTerminal as _;

use anyhow::Result;
use inquire::validator::{ErrorMessage, Validation};
use inquire::{Confirm, InquireError, Password, Select, Text};
use serde_json::Value;

use super::definition::{Element, Options, PropDefinition};
use super::form::Form;
use super::{pick, value};
use crate::account;
use crate::output;
use crate::source::text;

/// The person ended a prompt with Esc or Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("stopped at prop {prop}; nothing was changed")]
pub(crate) struct Stopped {
    prop: String,
}

/// Whether there is somebody to ask.
pub(super) fn possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a value; none when the person chose to leave the prop out.
pub(super) async fn ask(form: &Form<'_>, definition: &PropDefinition) -> Result<Option<Value>> {
    if let Some(description) = definition.description() {
        output::note(description);
    }
    match (definition.element(), definition.options()) {
        (Element::App, _) => {
            let accounts = account::list(form.client).await?;
            ask_account(definition, &accounts)
        }
        (_, Options::Listed(options)) => pick::listed(definition, options).map(Some),
        (_, Options::Computed) => pick::computed(form, definition).await.map(Some),
        (Element::Boolean, Options::None) if !definition.is_array() => {
            let answer = Confirm::new(definition.title()).with_placeholder("y or n");
            let answer = answer.prompt().map_err(|error| failed(definition, error))?;
            Ok(Some(Value::from(answer)))
        }
        (_, Options::None) => ask_text(definition).map(Some),
    }
}

/// A value typed by hand; what is wrong with it is said while it can still be corrected.
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

/// The value, if the node will take it, or what is wrong with it.
fn parse(definition: &PropDefinition, typed: &str) -> Result<Value, String> {
    if typed.trim().is_empty() {
        return Err("a value is needed".to_owned());
    }
    let value = value::parse(definition, typed).map_err(|invalid| invalid.reason)?;
    let checked = definition.check(&value);
    checked.map_err(|invalid| invalid.reason)?;
    Ok(value)
}

/// Says how to type what is not plain text.
fn message(definition: &PropDefinition) -> String {
    let form = match definition.element() {
        _ if definition.is_array() => " (comma-separated)",
        Element::Object | Element::Any => " (JSON)",
        _ => "",
    };
    format!("{}{form}:", definition.title())
}

/// Some apps need no account, which only their component knows: leaving it out is a choice.
fn ask_account(definition: &PropDefinition, accounts: &[Value]) -> Result<Option<Value>> {
    let accounts: Vec<_> = account::of_app(accounts, definition.app()).collect();
    if accounts.is_empty() {
        output::note(&no_account(definition));
        return Ok(None);
    }
    let labels = accounts
        .iter()
        .map(|account| format!("{} ({})", text(account, "name"), text(account, "id")));
    let labels: Vec<_> = labels.chain(["no account".to_owned()]).collect();
    let message = format!("{} account:", definition.title());
    let picked = Select::new(&message, labels).raw_prompt();
    let picked = picked.map_err(|error| failed(definition, error))?;
    Ok(accounts
        .get(picked.index)
        .map(|account| account::prop_value(text(account, "id"))))
}

/// What to do about an app prop for which no account is stored.
pub(super) fn no_account(definition: &PropDefinition) -> String {
    let app = definition.app().unwrap_or("APP");
    format!(
        "prop {name}: no account of {app} is stored. If the app needs one, connect it with \
         `headwater accounts connect {app}`, or add it with \
         `headwater accounts add {app}`, and give --prop {name}=ACCOUNT",
        name = definition.name()
    )
}

/// Why a prompt came to nothing.
pub(super) fn failed(definition: &PropDefinition, error: InquireError) -> anyhow::Error {
    let prop = definition.name().to_owned();
    match error {
        InquireError::OperationCanceled | InquireError::OperationInterrupted => {
            Stopped { prop }.into()
        }
        error => anyhow::Error::new(error).context(format!("cannot ask for prop {prop}")),
    }
}
