//! Accounts: their credentials never come over, so each app prop gets the account here that is its counterpart.

use std::collections::BTreeMap;

use anyhow::Result;
use serde_json::Value;

use super::origin::Origin;
use crate::account;
use crate::client::Client;
use crate::source::text;

pub(super) struct Accounts {
    here: Vec<Value>,
    /// Those of the service, if it lists them, by id.
    there: BTreeMap<String, Value>,
}

/// The account for an app prop.
#[derive(Debug, PartialEq)]
pub(super) enum Counterpart {
    Found(String),
    /// There is none, or several among which nobody has chosen.
    Missing {
        app: String,
        reason: String,
    },
}

impl Accounts {
    pub(super) async fn read(origin: &Origin, target: &Client) -> Result<Self> {
        let there = origin.list_if_any(&["accounts"]).await?;
        let there = there.unwrap_or_default().into_iter();
        Ok(Self {
            here: account::list(target).await?,
            there: there
                .map(|account| (text(&account, "id").to_owned(), account))
                .collect(),
        })
    }

    /// The counterpart of an account: the one that is named, the one with the same name, or the only one of its app.
    pub(super) fn counterpart(
        &self,
        app: Option<&str>,
        value: &Value,
        named: Option<&str>,
    ) -> Counterpart {
        let there = account_id(value).and_then(|id| self.there.get(id));
        let app = app.or_else(|| there.map(|account| text(account, "app")));
        let of_app: Vec<_> = account::of_app(&self.here, app)
            .filter(|_| app.is_some() || named.is_some())
            .collect();
        let called = |name: &str| {
            let called = |account: &&&Value| {
                ["id", "name"]
                    .iter()
                    .any(|field| text(account, field) == name)
            };
            let mut found = of_app.iter().filter(called);
            let first = found.next()?;
            found.next().is_none().then(|| text(first, "id").to_owned())
        };
        let missing = |reason: String| Counterpart::Missing {
            app: app.unwrap_or("its app").to_owned(),
            reason,
        };
        if let Some(name) = named {
            return match called(name) {
                Some(id) => Counterpart::Found(id),
                None => missing(format!("there is not exactly one called {name} here")),
            };
        }
        let same_name = there.and_then(|account| called(text(account, "name")));
        match (same_name, of_app.as_slice()) {
            (Some(id), _) => Counterpart::Found(id),
            (None, [only]) => Counterpart::Found(text(only, "id").to_owned()),
            (None, []) => missing("there is none here".to_owned()),
            (None, several) => missing(format!("there are {} here", several.len())),
        }
    }
}

/// Whether a configured value stands for an account.
pub(super) fn is_account(value: &Value) -> bool {
    account_id(value).is_some()
}

fn account_id(value: &Value) -> Option<&str> {
    let id = value.get("authProvisionId").and_then(Value::as_str);
    id.or_else(|| value.as_str().filter(|text| text.starts_with("apn_")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn accounts() -> Accounts {
        let account = |id: &str, app: &str, name: &str| json!({"id": id, "app": app, "name": name});
        Accounts {
            here: vec![
                account("apn_1", "slack", "work"),
                account("apn_2", "slack", "home"),
                account("apn_3", "github", "me"),
            ],
            there: [("apn_9".to_owned(), account("apn_9", "slack", "work"))].into(),
        }
    }

    #[test]
    fn an_account_is_found_by_its_name_or_because_it_is_the_only_one() {
        let accounts = accounts();
        let found = |id: &str| Counterpart::Found(id.to_owned());
        let known = json!({"authProvisionId": "apn_9"});
        let unknown = json!({"authProvisionId": "apn_8"});
        let slack = Some("slack");
        assert_eq!(accounts.counterpart(slack, &known, None), found("apn_1"));
        assert_eq!(accounts.counterpart(None, &known, None), found("apn_1"));
        assert_eq!(
            accounts.counterpart(slack, &known, Some("home")),
            found("apn_2")
        );
        assert_eq!(
            accounts.counterpart(Some("github"), &unknown, None),
            found("apn_3")
        );
        let missing = |app: Option<&str>, value, named| {
            matches!(
                accounts.counterpart(app, value, named),
                Counterpart::Missing { .. }
            )
        };
        assert!(missing(slack, &unknown, None), "nobody has chosen");
        assert!(missing(slack, &known, Some("me")), "another app's");
        assert!(missing(None, &unknown, None), "of an app that nobody names");
        assert!(missing(Some("rss"), &unknown, None));
    }
}
