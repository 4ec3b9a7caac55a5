//! Acts that leave an audit record: their names, and the little that is told of each. Never a secret: values of props,
//! variables, records and credentials are left out, and names stand for them.
//!
//! Responsible for the bounds of a record. Not for writing it, nor for who reads it.

use std::fmt::Display;

use headwater_model::id::{UserId, WorkspaceId};
use headwater_store::{Account, AuditTarget, Owner, Source, Webhook, Workflow};
use serde_json::{Map, Value};

/// The characters of a name or a text in a record.
const TEXT_CHARS: usize = 256;
/// The elements of a list in a record.
const LIST_MAX: usize = 50;
/// The bytes of a record's details.
const DETAILS_BYTES: usize = 2_048;

macro_rules! actions {
    ($($variant:ident = $name:literal;)*) => {
        /// Every kind of act that leaves a record.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum AuditAction {$(
            #[doc = concat!("`", $name, "`.")]
            $variant,
        )*}

        impl AuditAction {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its dotted name: the kind of thing, and what was done.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

actions! {
    SourceDeploy = "source.deploy";
    SourceUpdate = "source.update";
    SourcePause = "source.pause";
    SourceResume = "source.resume";
    SourceRollBack = "source.roll_back";
    SourceRun = "source.run";
    SourceDelete = "source.delete";
    EventsDelete = "event.delete";
    EventsReplay = "event.replay";
    EventSend = "event.send";
    EventViewSet = "event_view.set";
    EventViewDelete = "event_view.delete";
    ComponentSave = "component.save";
    ComponentDelete = "component.delete";
    ComponentPublish = "component.publish";
    ComponentRun = "component.run";
    WorkflowDeploy = "workflow.deploy";
    WorkflowActivate = "workflow.activate";
    WorkflowRollBack = "workflow.roll_back";
    WorkflowDeactivate = "workflow.deactivate";
    WorkflowRun = "workflow.run";
    WorkflowDelete = "workflow.delete";
    RunReplay = "run.replay";
    RunCancel = "run.cancel";
    RunResume = "run.resume";
    VariableSet = "variable.set";
    VariableDelete = "variable.delete";
    SubscriptionCreate = "subscription.create";
    SubscriptionDelete = "subscription.delete";
    WebhookCreate = "webhook.create";
    WebhookUpdate = "webhook.update";
    WebhookRotateSecret = "webhook.rotate_secret";
    WebhookTest = "webhook.test";
    WebhookReplay = "webhook.replay";
    WebhookDelete = "webhook.delete";
    DeliveryRetry = "delivery.retry";
    DeliveryDiscard = "delivery.discard";
    AccountCreate = "account.create";
    AccountLink = "account.link";
    AccountConnect = "account.connect";
    AccountReconnect = "account.reconnect";
    AccountRename = "account.rename";
    AccountCheck = "account.check";
    AccountDelete = "account.delete";
    DataStoreSet = "data_store.set";
    DataStoreDeleteRecord = "data_store.delete_record";
    DataStoreDelete = "data_store.delete";
    KeyCreate = "key.create";
    KeyRevoke = "key.revoke";
    SessionLink = "session.link";
    SessionSignIn = "session.sign_in";
    SessionSignOut = "session.sign_out";
    SessionRevoke = "session.revoke";
    SessionRefuse = "session.refuse";
    UserCreate = "user.create";
    UserDelete = "user.delete";
    WorkspaceCreate = "workspace.create";
    WorkspaceAddMember = "workspace.add_member";
    WorkspaceRemoveMember = "workspace.remove_member";
    NodeRotateSecretKey = "node.rotate_secret_key";
    NodeDrain = "node.drain";
    NodeUndrain = "node.undrain";
}

/// An act as its record tells it.
#[derive(Debug, Clone)]
pub(crate) struct Act {
    pub(crate) action: AuditAction,
    pub(crate) target: AuditTarget,
    details: Map<String, Value>,
}

impl Act {
    /// An act on a thing of nobody, such as the node.
    pub(crate) fn new(action: AuditAction, kind: &str, id: impl Display) -> Self {
        let target = AuditTarget {
            kind: kind.to_owned(),
            id: cut(&id.to_string()),
            name: None,
            owner_id: None,
            workspace_id: None,
        };
        Self {
            action,
            target,
            details: Map::new(),
        }
    }

    pub(crate) fn on_source(action: AuditAction, source: &Source) -> Self {
        let act = Self::new(action, "source", &source.id).of(&source.owner);
        act.named(&source.spec.name)
    }

    pub(crate) fn on_workflow(action: AuditAction, workflow: &Workflow) -> Self {
        let act = Self::new(action, "workflow", &workflow.id).of(&workflow.owner);
        act.named(&workflow.name)
    }

    pub(crate) fn on_webhook(action: AuditAction, webhook: &Webhook) -> Self {
        let act = Self::new(action, "webhook", &webhook.id).of(&webhook.owner);
        match &webhook.name {
            Some(name) => act.named(name),
            None => act.named(host(&webhook.url)),
        }
    }

    pub(crate) fn on_account(action: AuditAction, account: &Account) -> Self {
        let act = Self::new(action, "account", &account.id).of(&account.owner);
        act.named(&account.name).with("app", account.app.as_str())
    }

    /// The owner of the thing, who reads the record.
    pub(crate) fn of(self, owner: &Owner) -> Self {
        let act = self.of_user(&owner.user_id);
        match &owner.workspace_id {
            Some(id) => act.of_workspace(id),
            None => act,
        }
    }

    /// The same for what is a user's alone.
    pub(crate) fn of_user(mut self, id: &UserId) -> Self {
        self.target.owner_id = Some(id.clone());
        self
    }

    /// The same for what is a workspace's.
    pub(crate) fn of_workspace(mut self, id: &WorkspaceId) -> Self {
        self.target.workspace_id = Some(id.clone());
        self
    }

    /// The name of the thing.
    pub(crate) fn named(mut self, name: &str) -> Self {
        self.target.name = Some(cut(name));
        self
    }

    /// Something more about it.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.details.insert(field.to_owned(), bounded(value.into()));
        self
    }

    /// The same, if there is something.
    pub(crate) fn with_some(self, field: &str, value: Option<impl Into<Value>>) -> Self {
        match value {
            Some(value) => self.with(field, value),
            None => self,
        }
    }

    /// The further facts, within the bound.
    pub(crate) fn details(&self) -> Map<String, Value> {
        let mut details = self.details.clone();
        let bytes = |details: &Map<String, Value>| {
            serde_json::to_string(details).map_or(0, |text| text.len())
        };
        while bytes(&details) > DETAILS_BYTES {
            let largest = details
                .iter()
                .max_by_key(|(_, value)| value.to_string().len());
            let Some(field) = largest.map(|(field, _)| field.clone()) else {
                break;
            };
            details.remove(&field);
            details.insert("cut".to_owned(), Value::Bool(true));
        }
        details
    }
}

/// The host of a URL. Whatever else it has may be a secret.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// A text within the bound.
pub(crate) fn cut(text: &str) -> String {
    text.chars().take(TEXT_CHARS).collect()
}

fn bounded(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(cut(&text)),
        Value::Array(items) => {
            let items = items.into_iter().take(LIST_MAX);
            Value::Array(items.map(bounded).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => value,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn each_action_has_a_name_of_its_own_with_one_dot() {
        let names: HashSet<&str> = AuditAction::ALL.iter().map(|one| one.name()).collect();
        assert_eq!(names.len(), AuditAction::ALL.len());
        assert!(names.iter().all(|name| name.matches('.').count() == 1));
    }

    #[test]
    fn details_are_bounded() {
        let names: Vec<String> = (0..80).map(|n| format!("{n:0>300}")).collect();
        let act = Act::new(AuditAction::SourceUpdate, "source", "dc_1");
        let act = act
            .with("count", 7)
            .with("name", "é".repeat(400))
            .with("fields", names);
        assert_eq!(
            act.details["name"].as_str().unwrap().chars().count(),
            TEXT_CHARS
        );
        assert_eq!(act.details["fields"].as_array().unwrap().len(), LIST_MAX);
        let details = act.details();
        assert!(serde_json::to_string(&details).unwrap().len() <= DETAILS_BYTES);
        assert_eq!(
            (&details["count"], &details["cut"]),
            (&7.into(), &true.into())
        );
    }

    #[test]
    fn of_a_url_the_host_alone_is_told() {
        for (url, told) in [
            ("https://example.com/hooks/secret?key=1", "example.com"),
            ("https://user:secret@example.com:8443", "example.com:8443"),
            ("http://[::1]:9/x", "[::1]:9"),
            ("https://example.com?key=a@b", "example.com"),
        ] {
            assert_eq!(host(url), told);
        }
    }
}
