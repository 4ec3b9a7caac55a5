//! Accounts of third-party apps as app props need them: found by id or name, and the value an app
//! prop takes. Storing and deleting accounts are commands.

use anyhow::{Result, bail};
use serde_json::{Value, json};

use crate::client::Client;
use crate::source::text;

pub(crate) async fn list(client: &Client) -> Result<Vec<Value>> {
    client.list_scoped(&["accounts"]).await
}

/// Only the accounts of one app.
pub(crate) fn of_app<'a>(
    accounts: &'a [Value],
    app: Option<&str>,
) -> impl Iterator<Item = &'a Value> {
    accounts
        .iter()
        .filter(move |account| app.is_none_or(|app| text(account, "app") == app))
}

/// The value that an app prop is configured with.
pub(crate) fn prop_value(id: &str) -> Value {
    json!({"authProvisionId": id})
}

/// The id of the account that is called so, among those of the app if one is named.
pub(crate) async fn find_id(
    client: &Client,
    id_or_name: &str,
    app: Option<&str>,
) -> Result<String> {
    if id_or_name.starts_with("apn_") {
        return Ok(id_or_name.to_owned());
    }
    named(&list(client).await?, id_or_name, app)
}

fn named(accounts: &[Value], name: &str, app: Option<&str>) -> Result<String> {
    let ids: Vec<_> = of_app(accounts, app)
        .filter(|account| text(account, "name") == name)
        .map(|account| text(account, "id"))
        .collect();
    let of = app.map_or_else(String::new, |app| format!(" of {app}"));
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => bail!("no account{of} is called {name}; `headwater accounts list` shows them"),
        several => bail!(
            "{} accounts{of} are called {name}; use one of their ids: {}",
            several.len(),
            several.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_looked_up_within_the_app() {
        let accounts = [
            json!({"id": "apn_1", "app": "slack", "name": "work"}),
            json!({"id": "apn_2", "app": "github", "name": "work"}),
        ];
        assert_eq!(named(&accounts, "work", Some("github")).unwrap(), "apn_2");
        assert!(named(&accounts, "work", None).is_err());
        assert!(named(&accounts, "home", Some("slack")).is_err());
    }
}
