//! The lists of the service that is copied from, read before anything is created.

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::Value;

use super::origin::Origin;
use crate::source::text;

pub(super) struct Listings {
    /// The owner of the key.
    pub(super) me: Value,
    pub(super) sources: Vec<Value>,
    pub(super) webhooks: Vec<Value>,
    pub(super) subscriptions: Vec<Value>,
    /// Saved components, where the service lists them.
    pub(super) components: Vec<Value>,
    /// `None` if the service lists no workflows.
    pub(super) workflows: Option<Vec<Value>>,
    pub(super) variables: Vec<Value>,
}

impl Listings {
    pub(super) async fn read(origin: &Origin) -> Result<Self> {
        // The first, because it tells a wrong address or key.
        let me = origin.get(&["users", "me"]).await?;
        let (sources, subscriptions) = match origin.workspace() {
            Some(id) => (
                origin.list(&["orgs", id, "sources"]).await?,
                origin.list(&["workspaces", id, "subscriptions"]).await?,
            ),
            None => (
                origin.list(&["users", "me", "sources", ""]).await?,
                origin.list(&["users", "me", "subscriptions"]).await?,
            ),
        };
        let webhooks = origin.list(&["users", "me", "webhooks"]).await?;
        let workflows = origin.list_if_any(&["workflows"]).await?;
        let apart = Apart::of(origin, &me, workflows.as_deref().unwrap_or_default());
        let (sources, mut left_out) = apart.split(sources);
        let (webhooks, others) = apart.split(webhooks);
        left_out.extend(others);
        let is_end_apart = |id: &str| apart.ids.contains(id) || left_out.contains(id);
        let subscriptions = subscriptions.into_iter().filter(|one| {
            !is_end_apart(text(one, "emitter_id")) && !is_end_apart(text(one, "listener_id"))
        });
        Ok(Self {
            me,
            subscriptions: subscriptions.collect(),
            sources,
            webhooks,
            components: origin
                .list_if_any(&["components"])
                .await?
                .unwrap_or_default(),
            variables: origin
                .list_if_any(&["variables"])
                .await?
                .unwrap_or_default(),
            workflows,
        })
    }
}

/// The things that do not belong to this import, although the service lists them.
struct Apart {
    ids: BTreeSet<String>,
    /// Whether those of workspaces are apart: a user's lists have them too.
    are_workspaces: bool,
}

impl Apart {
    /// Sources that workflows deploy themselves, and workspaces that are not copied.
    fn of(origin: &Origin, me: &Value, workflows: &[Value]) -> Self {
        let are_workspaces = origin.workspace().is_none();
        let triggers = workflows
            .iter()
            .filter_map(|workflow| workflow["triggers"].as_array())
            .flatten();
        let sources = triggers.map(|trigger| text(trigger, "source_id"));
        let workspaces = me["orgs"].as_array().into_iter().flatten();
        let workspaces = workspaces
            .filter(|_| are_workspaces)
            .map(|workspace| text(workspace, "id"));
        let ids = sources.chain(workspaces).filter(|id| !id.is_empty());
        Self {
            ids: ids.map(str::to_owned).collect(),
            are_workspaces,
        }
    }

    /// The items that belong to the import, and the ids of the others.
    fn split(&self, items: Vec<Value>) -> (Vec<Value>, BTreeSet<String>) {
        let (others, items): (Vec<_>, Vec<_>) = items.into_iter().partition(|item| {
            self.ids.contains(text(item, "id"))
                || (self.are_workspaces && !text(item, "workspace_id").is_empty())
        });
        let others = others.iter().map(|item| text(item, "id").to_owned());
        (items, others.collect())
    }
}
