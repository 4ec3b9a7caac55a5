//! A webhook as the API shows it, found by its id or name. Changes nothing.

use std::collections::BTreeMap;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::client::Client;
use crate::source::text;

pub(crate) async fn list(client: &Client) -> Result<Vec<Value>> {
    client.list_scoped(&["users", "me", "webhooks"]).await
}

/// The names of webhooks by their ids.
pub(crate) async fn names(client: &Client) -> Result<BTreeMap<String, String>> {
    let webhooks = list(client).await?.into_iter();
    let pair = |webhook: Value| {
        (
            text(&webhook, "id").to_owned(),
            text(&webhook, "name").to_owned(),
        )
    };
    Ok(webhooks.map(pair).collect())
}

/// An id is taken as it is, without asking for the webhook.
pub(crate) async fn find_id(client: &Client, id_or_name: &str) -> Result<String> {
    match id_by_name(client, id_or_name).await? {
        Some(id) => Ok(id),
        None => {
            bail!("no webhook is called {id_or_name}; `headwater webhooks list` shows the webhooks")
        }
    }
}

/// The same, for callers that look elsewhere if there is no webhook of that name.
pub(crate) async fn id_by_name(client: &Client, id_or_name: &str) -> Result<Option<String>> {
    if id_or_name.starts_with("wh_") {
        return Ok(Some(id_or_name.to_owned()));
    }
    named(&list(client).await?, id_or_name)
}

fn named(webhooks: &[Value], name: &str) -> Result<Option<String>> {
    let ids: Vec<_> = webhooks
        .iter()
        .filter(|webhook| text(webhook, "name") == name)
        .map(|webhook| text(webhook, "id"))
        .collect();
    match ids.as_slice() {
        [] => Ok(None),
        [id] => Ok(Some((*id).to_owned())),
        several => bail!(
            "{} webhooks are called {name}; use one of their ids: {}",
            several.len(),
            several.join(", ")
        ),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_ambiguous_name_is_refused() {
        let webhooks = [
            json!({"id": "wh_1", "name": "a"}),
            json!({"id": "wh_2", "name": "b"}),
            json!({"id": "wh_3", "name": "b"}),
            json!({"id": "wh_4", "name": null}),
        ];
        assert_eq!(named(&webhooks, "a").unwrap().as_deref(), Some("wh_1"));
        assert_eq!(named(&webhooks, "c").unwrap(), None);
        assert_eq!(
            named(&webhooks, "b").unwrap_err().to_string(),
            "2 webhooks are called b; use one of their ids: wh_2, wh_3"
        );
    }
}
