//! Asking for a prop's value on a terminal: one prompt per kind of prop. The choice of props is made
//! elsewhere; prompts go to standard error, so standard output stays data.

use anyhow::Result;
use inquire::{Confirm, Select};
use serde_json::Value;

use super::app;
use super::definition::{Element, Options, PropDefinition};
use super::form::Form;
use super::pick;
use super::prompt::{ask_text, failed};
use crate::client::Client;
use crate::output;
use crate::source::text;

/// Asks for a value; none when the person chose to leave the prop out.
pub(super) async fn ask(form: &Form<'_>, definition: &PropDefinition) -> Result<Option<Value>> {
    if let Some(description) = definition.description() {
        output::tell(description);
    }
    match (definition.element(), definition.options()) {
        (Element::App, _) => app::ask(form.client, definition).await,
        (_, Options::Listed(options)) => pick::listed(definition, options).map(Some),
        (_, Options::Computed) => pick::computed(form, definition).await.map(Some),
        (Element::Boolean, Options::None) if !definition.is_array() => {
            let answer = Confirm::new(definition.title()).with_placeholder("y or n");
            let answer = answer.prompt().map_err(|error| failed(definition, error))?;
            Ok(Some(Value::from(answer)))
        }
        (_, Options::None) if definition.is_data_store() => {
            ask_data_store(form.client, definition).await.map(Some)
        }
        (_, Options::None) => ask_text(definition).map(Some),
    }
}

/// Asks for one of the data stores that are there, or for the name of a new one.
async fn ask_data_store(client: &Client, definition: &PropDefinition) -> Result<Value> {
    let stores = client.list_scoped(&["data_stores"]).await?;
    if !stores.is_empty() {
        let names = stores.iter().map(|store| text(store, "name").to_owned());
        let names = names.chain(["… a new one".to_owned()]).collect();
        let message = format!("{}, a data store:", definition.title());
        let picked = Select::new(&message, names).raw_prompt();
        let picked = picked.map_err(|error| failed(definition, error))?;
        if let Some(store) = stores.get(picked.index) {
            return Ok(store["name"].clone());
        }
    }
    output::tell(
        "the name of a data store, which is created when something is first written to it",
    );
    ask_text(definition)
}
