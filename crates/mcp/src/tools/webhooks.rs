//! Webhooks, and the subscriptions by which they get events.

use rmcp::{handler::server::wrapper::Parameters, tool, tool_router};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::{
    api::Api,
    reply::{Reply, Shown},
    server::Server,
};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateWebhook {
    /// The http or https URL that events are POSTed to.
    url: String,
    /// A name for people.
    name: Option<String>,
    /// The id or name of the source whose events it gets.
    source: String,
    /// One channel of the source; the default one without it.
    channel: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListWebhooks {
    /// `page_info.end_cursor` of the page before.
    after: Option<String>,
}

#[tool_router(router = webhooks, vis = "pub(crate)")]
impl Server {
    /// Creates a webhook that gets the events of a source, signed, and tried again until they are taken. The secret that
    /// signs them is in the answer only.
    #[tool(annotations(
        title = "Create a webhook",
        read_only_hint = false,
        destructive_hint = false
    ))]
    async fn create_webhook(
        &self,
        api: Api,
        Parameters(asked): Parameters<CreateWebhook>,
    ) -> Reply {
        let source = api.source_id(&asked.source).await?;
        let mut body = json!({ "url": asked.url });
        if let Some(name) = asked.name {
            body["name"] = name.into();
        }
        let webhook = api.create(&["webhooks"], body).await?;
        let mut subscription = json!({ "emitter_id": source, "listener_id": webhook["id"] });
        if let Some(channel) = asked.channel {
            subscription["event_name"] = channel.into();
        }
        let subscription = api.create(&["subscriptions"], subscription).await?;
        Ok(Shown(
            json!({ "webhook": webhook, "subscription": subscription }),
        ))
    }

    /// Lists the webhooks, with their health.
    #[tool(annotations(
        title = "List webhooks",
        read_only_hint = true,
        open_world_hint = false
    ))]
    async fn list_webhooks(&self, api: Api, Parameters(asked): Parameters<ListWebhooks>) -> Reply {
        let query = [
            ("after", asked.after),
            ("expand", Some("health".to_owned())),
            ("limit", Some("50".to_owned())),
        ];
        let webhooks = api.list(&["users", "me", "webhooks"], &query).await;
        webhooks.map(Shown)
    }
}
