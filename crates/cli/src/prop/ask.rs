//! Asking for a prop's value on a terminal: one prompt per kind of prop. The choice of props is made
//! elsewhere; prompts go to standard error, so standard output stays data.

use anyhow::Result;
use inquire::{Confirm, Select};
use serde_json::{Value, json};

use super::definition::{Element, Options, PropDefinition};
use super::form::Form;
use super::pick;
use super::prompt::{ask_text, failed};
use crate::account;
use crate::client::Client;
use crate::connect;
use crate::output;
use crate::source::text;

/// Asks for a value; none when the person chose to leave the prop out.
pub(super) async fn ask(form: &Form<'_>, definition: &PropDefinition) -> Result<Option<Value>> {
    if let Some(description) = definition.description() {
        output::tell(description);
    }
    match (definition.element(), definition.options()) {
        (Element::App, _) => {
            let accounts = account::list(form.client).await?;
            match account::of_app(&accounts, definition.app()).next() {
                Some(_) => ask_account(definition, &accounts),
                None => offer_to_connect(form.client, definition).await,
            }
        }
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

/// Some apps need no account, which only their component knows: leaving it out is a choice.
fn ask_account(definition: &PropDefinition, accounts: &[Value]) -> Result<Option<Value>> {
    let accounts: Vec<_> = account::of_app(accounts, definition.app()).collect();
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

/// Connects the first account of an app in a browser, if the node can and the person wants to.
async fn offer_to_connect(client: &Client, definition: &PropDefinition) -> Result<Option<Value>> {
    let app = definition.app().unwrap_or_default();
    if !is_connectable(client, app).await? {
        output::tell(&no_account(definition));
        return Ok(None);
    }
    let question = format!("There is no account of {app}. Connect one now, in a browser?");
    let wanted = Confirm::new(&question).with_default(true).prompt();
    if !wanted.map_err(|error| failed(definition, error))? {
        output::tell(&no_account(definition));
        return Ok(None);
    }
    let body = json!({"app": app});
    let connected = match client.post_scoped(&["accounts", "connect"], body).await {
        Ok(link) => connect::follow(client, &link, false).await,
        Err(error) => Err(error),
    };
    match connected {
        Ok(account) => Ok(Some(account::prop_value(text(&account, "id")))),
        Err(error) if definition.needs_value() => Err(error),
        // Such as an app without an OAuth 2 client, which the operator registers. The source may do without.
        Err(error) => {
            output::tell(&format!("{error:#}"));
            Ok(None)
        }
    }
}

/// Whether the node's catalog has the app, and the app wants credentials.
async fn is_connectable(client: &Client, app: &str) -> Result<bool> {
    let query = [("q", app.to_owned())];
    let found = client.first(&["apps"], usize::MAX, &query).await?.data;
    let mut found = found.iter().filter(|it| text(it, "name_slug") == app);
    Ok(found
        .next()
        .is_some_and(|it| text(it, "auth_type") != "none"))
}

/// The advice about an app prop for which no account is stored.
pub(super) fn no_account(definition: &PropDefinition) -> String {
    let app = definition.app().unwrap_or("APP");
    format!(
        "prop {name}: there is no account of {app}. Connect one with `headwater accounts connect \
         {app}`, or add one with `headwater accounts add {app}`; then give --prop {name}=ACCOUNT",
        name = definition.name()
    )
}
