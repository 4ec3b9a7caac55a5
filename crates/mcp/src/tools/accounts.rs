//! Accounts of apps: listed, and connected by the person in a browser.

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::Listed;
use crate::{
    api::{self, Api},
    reply::{Reply, Shown},
    server::Server,
};

/// Less than the minute or so after which programs that call tools give up.
const WAIT_MAX_S: u64 = 55;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListAccounts {
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConnectAccount {
    /// The app's name slug, such as `github`.
    app: String,
    /// A name that tells this account from others of the app.
    name: Option<String>,
    /// Values of the app's fields that are known and no secrets, such as a subdomain; the browser asks for the others.
    #[serde(default)]
    fields: Map<String, Value>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConnectStatus {
    /// `id` of the answer of `connect_account`.
    connect: String,
    /// Seconds to wait for the person, up to 55; 0 without it.
    wait_s: Option<u64>,
}

#[tool_router(router = accounts, vis = "pub(crate)")]
impl Server {
    /// Lists the apps that accounts can be connected of.
    #[tool(annotations(title = "List apps", read_only_hint = true, open_world_hint = false))]
    async fn list_apps(&self, api: Api, Parameters(asked): Parameters<Listed>) -> Reply {
        let query = [
            ("q", asked.query),
            ("after", asked.after),
            ("limit", Some("50".to_owned())),
        ];
        api.get(&["apps"], &query).await.map(Shown)
    }

    /// Lists the connected accounts, without their credentials. The id of one is the value of a prop of its app.
    #[tool(annotations(
        title = "List accounts",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn list_accounts(&self, api: Api, Parameters(asked): Parameters<ListAccounts>) -> Reply {
        let query = [("after", asked.after), ("limit", Some("100".to_owned()))];
        api.list(&["accounts"], &query).await.map(Shown)
    }

    /// Begins to connect an account. Give the person the URL of the answer: they enter their credentials or let the app
    /// ask them, in their browser. Then ask `connect_status`. Never ask a person for a password or a token.
    #[tool(annotations(
        title = "Connect an account",
        read_only_hint = false,
        destructive_hint = false
    ))]
    async fn connect_account(
        &self,
        api: Api,
        Parameters(asked): Parameters<ConnectAccount>,
    ) -> Reply {
        let mut body = json!({ "app": asked.app, "fields": asked.fields });
        if let Some(name) = asked.name {
            body["name"] = name.into();
        }
        let link = api.create(&["accounts", "connect"], body).await;
        link.map(Shown)
    }

    /// Tells whether the person has connected the account, and its id.
    #[tool(annotations(title = "State of a connect", read_only_hint = true))]
    async fn connect_status(
        &self,
        api: Api,
        Parameters(asked): Parameters<ConnectStatus>,
    ) -> Reply {
        let wait = asked.wait_s.map(|wait| wait.min(WAIT_MAX_S).to_string());
        let path = ["accounts", "connect", &asked.connect];
        let state = api.get(&path, &[("wait_s", wait)]).await?;
        Ok(Shown(api::data(state)))
    }
}
