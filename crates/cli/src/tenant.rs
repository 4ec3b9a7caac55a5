//! Users, workspaces and keys as commands name them: found by id or by name.

use anyhow::{Result, bail};
use serde_json::Value;

use crate::client::Client;
use crate::source::text;

/// The id of a user that the administrator names.
pub(crate) async fn user_id(client: &Client, id_or_username: &str) -> Result<String> {
    if id_or_username.starts_with("u_") {
        return Ok(id_or_username.to_owned());
    }
    let users = client.list(&["users"]).await?;
    named(&users, "username", id_or_username, "user", "users list")
}

/// The id of a member.
pub(crate) async fn member_id(
    client: &Client,
    workspace_id: &str,
    id_or_username: &str,
) -> Result<String> {
    if id_or_username.starts_with("u_") {
        return Ok(id_or_username.to_owned());
    }
    let members = client
        .list(&["workspaces", workspace_id, "members"])
        .await?;
    let hint = "workspaces members list";
    named(&members, "username", id_or_username, "member", hint)
}

/// The id of one of the caller's workspaces.
pub(crate) async fn workspace_id(client: &Client, id_or_orgname: &str) -> Result<String> {
    if id_or_orgname.starts_with("o_") {
        return Ok(id_or_orgname.to_owned());
    }
    let workspaces = client.list(&["workspaces"]).await?;
    let hint = "workspaces list";
    named(&workspaces, "orgname", id_or_orgname, "workspace", hint)
}

/// The id of a key, by its name if it is among these.
pub(crate) fn key_id_among(keys: &[Value], id_or_name: &str) -> Result<String> {
    match id_or_name.starts_with("key_") {
        true => Ok(id_or_name.to_owned()),
        false => named(keys, "name", id_or_name, "key", "keys list"),
    }
}

fn named(items: &[Value], field: &str, name: &str, kind: &str, hint: &str) -> Result<String> {
    let called_so = items.iter().filter(|item| text(item, field) == name);
    let ids: Vec<_> = called_so.map(|item| text(item, "id")).collect();
    match ids.as_slice() {
        [id] => Ok((*id).to_owned()),
        [] => bail!("no {kind} is called {name}; `headwater {hint}` shows them"),
        several => bail!(
            "{} {kind}s are called {name}; use one of their ids: {}",
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
    fn a_name_must_mean_one_thing() {
        let keys = [
            json!({"id": "key_1", "name": "laptop"}),
            json!({"id": "key_2", "name": "server"}),
            json!({"id": "key_3", "name": "laptop"}),
        ];
        let id = |name| named(&keys, "name", name, "key", "keys list");
        assert_eq!(id("server").unwrap(), "key_2");
        let several = id("laptop").unwrap_err().to_string();
        assert!(several.contains("key_1, key_3"), "{several}");
        let none = id("phone").unwrap_err().to_string();
        assert!(none.contains("headwater keys list"), "{none}");
    }
}
