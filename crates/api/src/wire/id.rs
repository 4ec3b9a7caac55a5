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
/// The same in ids that files of workflows bring along.
const FOREIGN_BODY: &str = "[0-9A-Za-z]{6,22}";
const EXAMPLE: &str = "0DkqLtSyJ4yOMpWg5tVxNq";

macro_rules! ids {
    ($($name:ident, $shown:literal, $prefixes:expr, $description:literal;)*) => {$(
        #[doc = $description]
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let prefixes: &[&str] = &$prefixes;
                let example = format!("{}{EXAMPLE}", prefixes[0]);
                text(&pattern(prefixes), &example, $description)
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
    Audit, "AuditId", [id::AuditId::PREFIX], "Id of an audit record.";
    Session, "SessionId", [id::SessionId::PREFIX], "Id of a session of a browser.";
    Account, "AccountId", [id::AccountId::PREFIX], "Id of a connected account.";
    Connect, "ConnectId", [id::ConnectId::PREFIX], "Id of a connect: an account being connected in a browser.";
    Invocation, "InvocationId", [id::InvocationId::PREFIX], "Id of one run of a component's code, or of a workflow.";
    Deployment, "DeploymentId", [id::DeploymentId::PREFIX], "Id of a deployment of a source or a workflow, which never changes.";
    Owner, "OwnerId", [id::UserId::PREFIX, id::WorkspaceId::PREFIX], "Id of an owner: a user or a workspace.";
    Emitter, "EmitterId", [id::SourceId::PREFIX, id::WorkflowId::PREFIX],
        "Id of an emitter of events: a source or a workflow.";
    Listener, "ListenerId",
        [id::SourceId::PREFIX, id::WorkflowId::PREFIX, id::WebhookId::PREFIX],
        "Id of a listener of events: a source, a workflow or a webhook.";
}

/// The pattern of ids with one of these prefixes.
fn pattern(prefixes: &[&str]) -> String {
    let patterns = prefixes.iter().map(|prefix| match *prefix {
        id::WorkflowId::PREFIX => format!("{prefix}{FOREIGN_BODY}"),
        _ => format!("{prefix}{BODY}"),
    });
    match patterns.collect::<Vec<_>>().as_slice() {
        [only] => format!("^{only}$"),
        several => format!("^({})$", several.join("|")),
    }
}

/// Id of a trigger of a workflow.
pub(crate) enum Trigger {}

impl PartialSchema for Trigger {
    fn schema() -> RefOr<Schema> {
        text(
            &format!("^(hi_|ti_|ei_|dc_|ev_){FOREIGN_BODY}$"),
            &format!("hi_{EXAMPLE}"),
            "Id of a trigger of a workflow. The prefix tells its type.",
        )
    }
}

impl ToSchema for Trigger {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("TriggerId")
    }
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

    #[test]
    fn the_pattern_of_foreign_ids_says_how_short_they_may_be() {
        let shortest = (1..=22).find(|count| {
            format!("p_{}", "a".repeat(*count))
                .parse::<id::WorkflowId>()
                .is_ok()
        });
        let expected = format!("[0-9A-Za-z]{{{},22}}", shortest.unwrap());
        assert_eq!(FOREIGN_BODY, expected);
    }
}
