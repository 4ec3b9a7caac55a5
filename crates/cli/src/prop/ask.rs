//! Asking for a prop's value on a terminal: one prompt per kind of prop. Which props are asked
//! for is decided elsewhere; prompts go to standard error, so standard output stays data.

use std::io::IsTerminal as _;

use anyhow::{Context as _, Result};
use dialoguer::{Confirm, Input, MultiSelect, Password, Select};
use serde_json::Value;

use super::definition::{Element, PropDefinition, PropOption};
use super::value;
use crate::account;
use crate::output;
use crate::source::text;

/// Whether there is somebody to ask.
pub(super) fn possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for a value; none when the person chose to leave the prop out.
pub(super) fn ask(definition: &PropDefinition, accounts: &[Value]) -> Result<Option<Value>> {
    if let Some(description) = &definition.description {
        output::note(description.trim());
    }
    let asked = match definition.element() {
        Element::App => ask_account(definition, accounts),
        Element::Boolean if !definition.is_array() => Confirm::new()
            .with_prompt(definition.title())
            .interact()
            .map(|answer| Some(Value::from(answer))),
        _ => ask_value(definition).map(Some),
    };
    asked.with_context(|| format!("cannot ask for prop {}", definition.name))
}

fn ask_value(definition: &PropDefinition) -> dialoguer::Result<Value> {
    let options = definition.static_options();
    match (options.is_empty(), definition.is_array()) {
        (true, _) => ask_text(definition),
        (false, true) => pick_several(definition, options),
        (false, false) => pick_one(definition, options),
    }
}

fn ask_text(definition: &PropDefinition) -> dialoguer::Result<Value> {
    loop {
        let typed = if definition.secret {
            Password::new().with_prompt(definition.title()).interact()?
        } else {
            Input::<String>::new()
                .with_prompt(prompt(definition))
                .interact_text()?
        };
        match value::parse(definition, &typed) {
            Ok(value) => return Ok(value),
            Err(invalid) => output::note(&invalid.reason),
        }
    }
}

/// Says how to type what is not plain text.
fn prompt(definition: &PropDefinition) -> String {
    let form = match definition.element() {
        _ if definition.is_array() => " (comma-separated)",
        Element::Object | Element::Any => " (JSON)",
        _ => "",
    };
    format!("{}{form}", definition.title())
}

fn pick_one(definition: &PropDefinition, mut options: Vec<PropOption>) -> dialoguer::Result<Value> {
    let picked = Select::new()
        .with_prompt(definition.title())
        .items(options.iter().map(|option| option.label.clone()))
        .default(0)
        .interact()?;
    Ok(options.swap_remove(picked).value)
}

fn pick_several(definition: &PropDefinition, options: Vec<PropOption>) -> dialoguer::Result<Value> {
    let picked = MultiSelect::new()
        .with_prompt(format!("{} (space selects)", definition.title()))
        .items(options.iter().map(|option| option.label.clone()))
        .interact()?;
    let values = options
        .into_iter()
        .enumerate()
        .filter(|(index, _)| picked.contains(index));
    Ok(values.map(|(_, option)| option.value).collect())
}

/// Some apps need no account, which only their component knows: leaving it out is a choice.
fn ask_account(
    definition: &PropDefinition,
    accounts: &[Value],
) -> dialoguer::Result<Option<Value>> {
    let app = definition.app.as_deref();
    let accounts: Vec<_> = account::of_app(accounts, app).collect();
    if accounts.is_empty() {
        output::note(&no_account(definition));
        return Ok(None);
    }
    let labels = accounts
        .iter()
        .map(|account| format!("{} ({})", text(account, "name"), text(account, "id")));
    let picked = Select::new()
        .with_prompt(format!("{} account", definition.title()))
        .items(labels.chain(["no account".to_owned()]))
        .default(0)
        .interact()?;
    Ok(accounts
        .get(picked)
        .map(|account| account::prop_value(text(account, "id"))))
}

/// What to do about an app prop for which no account is stored.
pub(super) fn no_account(definition: &PropDefinition) -> String {
    let app = definition.app.as_deref().unwrap_or("APP");
    format!(
        "prop {}: no account of {app} is stored. If the app needs one, add it with \
         `headwater accounts add {app} --field KEY=VALUE` and give --prop {}=ACCOUNT",
        definition.name, definition.name
    )
}
