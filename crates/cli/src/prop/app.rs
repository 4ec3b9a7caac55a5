//! The account of an app prop: the ways to one that the node has for the app, picking one of those that are there, and
//! connecting another.

use std::fmt;

use anyhow::Result;
use inquire::{Confirm, Select};
use serde_json::{Value, json};

use super::definition::PropDefinition;
use super::prompt::failed;
use crate::account;
use crate::client::Client;
use crate::connect;
use crate::output;
use crate::source::text;
use crate::usage_error::UsageError;

/// The way to an account of an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The user's consent in a browser.
    Consent,
    /// Fields of the catalog, at a terminal or in a browser.
    Fields,
    /// Fields that only the component knows: the app is not in the catalog.
    Unlisted,
    /// The app asks for none.
    NotNeeded,
}

impl Way {
    /// The way that the node's catalog has for the app.
    pub(super) async fn to(client: &Client, app: &str) -> Result<Self> {
        let query = [("q", app.to_owned())];
        let found = client.first(&["apps"], usize::MAX, &query).await?.data;
        let known = found.iter().find(|it| text(it, "name_slug") == app);
        Ok(match known.map(|known| text(known, "auth_type")) {
            None => Self::Unlisted,
            Some("none") => Self::NotNeeded,
            Some("oauth2") => Self::Consent,
            Some(_) => Self::Fields,
        })
    }

    /// Whether an account can be connected in a browser.
    fn has_link(self) -> bool {
        matches!(self, Self::Consent | Self::Fields)
    }

    /// The advice about an app without an account.
    pub(super) fn advice(self, app: &str) -> String {
        let command = match self {
            Self::NotNeeded => return format!("{app} needs no account"),
            Self::Consent => format!("connect one with `headwater accounts connect {app}`"),
            Self::Fields => format!("add one with `headwater accounts add {app}`"),
            Self::Unlisted => {
                format!("add one with `headwater accounts add {app} --field KEY=VALUE`")
            }
        };
        format!("there is no account of {app}; {command}")
    }
}

/// A line of the list of accounts.
enum Choice<'a> {
    Account(&'a Value),
    None,
    Another,
}

impl fmt::Display for Choice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Account(account) => {
                write!(f, "{} ({})", text(account, "name"), text(account, "id"))
            }
            Self::None => f.write_str("no account"),
            Self::Another => f.write_str("… connect another account"),
        }
    }
}

/// Asks for an account; none when the app needs none.
pub(super) async fn ask(client: &Client, definition: &PropDefinition) -> Result<Option<Value>> {
    let app = definition.app().unwrap_or_default();
    let way = Way::to(client, app).await?;
    let accounts = account::list(client).await?;
    let accounts: Vec<_> = account::of_app(&accounts, definition.app()).collect();
    if accounts.is_empty() {
        return first(client, definition, way).await;
    }
    loop {
        let message = format!("{} account:", definition.title());
        let picked = Select::new(&message, choices(&accounts, way)).prompt();
        match picked.map_err(|error| failed(definition, error))? {
            Choice::Account(account) => return Ok(Some(value_of(account))),
            Choice::None => return Ok(None),
            Choice::Another => match connected(client, app).await {
                Ok(account) => return Ok(Some(value_of(&account))),
                // Those that are there may do.
                Err(error) => output::tell(&format!("{error:#}")),
            },
        }
    }
}

fn choices<'a>(accounts: &[&'a Value], way: Way) -> Vec<Choice<'a>> {
    let accounts = accounts.iter().map(|account| Choice::Account(account));
    let none = (way == Way::NotNeeded).then_some(Choice::None);
    let another = way.has_link().then_some(Choice::Another);
    accounts.chain(none).chain(another).collect()
}

/// Connects the first account of an app in a browser, if the node can and the person wants to.
async fn first(client: &Client, definition: &PropDefinition, way: Way) -> Result<Option<Value>> {
    let app = definition.app().unwrap_or_default();
    if way == Way::NotNeeded {
        return Ok(None);
    }
    let is_wanted = || {
        let question = format!("There is no account of {app}. Connect one now, in a browser?");
        let wanted = Confirm::new(&question).with_default(true).prompt();
        wanted.map_err(|error| failed(definition, error))
    };
    match way.has_link() && is_wanted()? {
        true => Ok(Some(value_of(&connected(client, app).await?))),
        false => Err(UsageError(format!(
            "prop {name}: {}; then give --prop {name}=ACCOUNT",
            way.advice(app),
            name = definition.name()
        ))
        .into()),
    }
}

/// Connects an account in a browser.
async fn connected(client: &Client, app: &str) -> Result<Value> {
    let link = client
        .post_scoped(&["accounts", "connect"], json!({"app": app}))
        .await?;
    connect::follow(client, &link, false).await
}

fn value_of(account: &Value) -> Value {
    account::prop_value(text(account, "id"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(way: Way) -> Vec<String> {
        let account = json!({"id": "apn_1", "name": "work"});
        let choices = choices(&[&account], way);
        choices.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_account_is_picked_or_another_one_is_connected() {
        let another = ["work (apn_1)", "… connect another account"];
        assert_eq!(shown(Way::Consent), another);
        assert_eq!(shown(Way::Fields), another);
        assert_eq!(shown(Way::Unlisted), ["work (apn_1)"]);
        assert_eq!(shown(Way::NotNeeded), ["work (apn_1)", "no account"]);
    }

    #[test]
    fn the_advice_is_the_way_that_the_app_has() {
        for (way, command) in [
            (Way::Consent, "`headwater accounts connect slack`"),
            (Way::Fields, "`headwater accounts add slack`"),
            (
                Way::Unlisted,
                "`headwater accounts add slack --field KEY=VALUE`",
            ),
        ] {
            let advice = way.advice("slack");
            assert!(advice.ends_with(command), "{advice}");
            assert_eq!(advice.matches('`').count(), 2, "{advice}");
        }
    }
}
