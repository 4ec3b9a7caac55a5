//! Ids in the OpenAPI document. Handlers take and give `headwater_model::id`; these types only stand
//! for them where a shape is described: `#[schema(value_type = id::Source)]`.

use std::borrow::Cow;

use headwater_model::id;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{ObjectBuilder, RefOr, Schema, schema::Type},
};

/// 22 base62 digits, as `headwater_model::id` creates them.
const BODY: &str = "[0-9A-Za-z]{22}";
const EXAMPLE: &str = "0DkqLtSyJ4yOMpWg5tVxNq";

macro_rules! ids {
    ($($name:ident, $shown:literal, $prefixes:expr, $description:literal;)*) => {$(
        #[doc = $description]
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let prefixes: &[&str] = &$prefixes;
                let prefix = match prefixes {
                    [only] => (*only).to_owned(),
                    several => format!("({})", several.join("|")),
                };
                let example = format!("{}{EXAMPLE}", prefixes[0]);
                text(&format!("^{prefix}{BODY}$"), &example, $description)
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                Cow::Borrowed($shown)
            }
        }
    )*};
}

ids! {
    Source, "SourceId", [id::SourceId::PREFIX], "Id of a source (deployed component).";
    Component, "ComponentId", [id::ComponentId::PREFIX], "Id of a saved component.";
    Workflow, "WorkflowId", [id::WorkflowId::PREFIX], "Id of a workflow.";
    Subscription, "SubscriptionId", [id::SubscriptionId::PREFIX], "Id of a subscription.";
    Webhook, "WebhookId", [id::WebhookId::PREFIX], "Id of a webhook.";
    Delivery, "DeliveryId", [id::DeliveryId::PREFIX], "Id of a delivery: one event for one webhook.";
    Workspace, "WorkspaceId", [id::WorkspaceId::PREFIX], "Id of a workspace (organization).";
    User, "UserId", [id::UserId::PREFIX], "Id of a user.";
    Key, "KeyId", [id::KeyId::PREFIX], "Id of an API key.";
    Account, "AccountId", [id::AccountId::PREFIX], "Id of a connected account.";
    Connect, "ConnectId", [id::ConnectId::PREFIX], "Id of a connect: an account being connected in a browser.";
    Invocation, "InvocationId", [id::InvocationId::PREFIX], "Id of one run of a component's code.";
    Emitter, "EmitterId", [id::SourceId::PREFIX, id::WorkflowId::PREFIX],
        "Id of an emitter of events: a source or a workflow.";
    Listener, "ListenerId",
        [id::SourceId::PREFIX, id::WorkflowId::PREFIX, id::WebhookId::PREFIX],
        "Id of a listener of events: a source, a workflow or a webhook.";
}

/// Id of an event.
pub(crate) enum Event {}

impl PartialSchema for Event {
    fn schema() -> RefOr<Schema> {
        text(
            "^(0|[1-9][0-9]{0,18})-(0|[1-9][0-9]{0,9})$",
            "1767225600000-0",
            "Id of an event: `<epoch_ms>-<sequence>`. Ids of later events sort later.",
        )
    }
}

impl ToSchema for Event {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("EventId")
    }
}

fn text(pattern: &str, example: &str, description: &str) -> RefOr<Schema> {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .pattern(Some(pattern))
        .examples([example])
        .description(Some(description));
    text.into()
}

#[cfg(test)]
mod tests {
    use headwater_model::time::EpochMs;

    use super::*;

    #[test]
    fn the_pattern_says_how_long_ids_are() {
        let id = id::SourceId::new(EpochMs(1), 2).to_string();
        let digits = id.len() - id::SourceId::PREFIX.len();
        assert_eq!(BODY, format!("[0-9A-Za-z]{{{digits}}}"));
    }
}
