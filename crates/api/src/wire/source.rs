//! Sources (docs/api-design.md, "Sources").

use std::collections::BTreeMap;

use headwater_model::{
    id::{ComponentId, DeploymentId, SourceId, UserId, WorkspaceId},
    prop::ConfiguredProps,
    time::EpochSeconds,
};
use headwater_platform::{ComponentInput, SourceTrigger, SourceView, Standing, Wanted};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use super::{
    id,
    lenient::{self, expands},
    source_health::SourceHealth,
};

/// A deployment. One of `component_id`, `component_code` and `component_url` is required; the first of
/// them that is given counts.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({
    "component_code": "export default { name: \"Greeter\", version: \"0.0.1\", run() { this.$emit(1) } }",
    "name": "Greeter",
}))]
pub(crate) struct DeploySource {
    /// A saved or published component: its id, its key, or `key@version`.
    component_id: Option<String>,
    /// The component's code: a JavaScript or TypeScript module.
    component_code: Option<String>,
    /// URL to fetch the code from; with one of the others, only kept.
    component_url: Option<String>,
    /// Version ranges of npm packages that `component_code` imports without one, by name, as
    /// `dependencies` of the nearest `package.json` has them; other packages resolve to their latest
    /// release. Not part of Pipedream's API.
    component_dependencies: Option<BTreeMap<String, String>>,
    /// The source's name; the component's by default.
    name: Option<String>,
    /// Values for the component's props, by name.
    #[serde(default, deserialize_with = "lenient::object")]
    #[schema(value_type = Option<Object>)]
    configured_props: Option<ConfiguredProps>,
    /// Whether the source shares no worker with others. Not part of Pipedream's API.
    #[serde(default, deserialize_with = "lenient::boolean")]
    isolated: Option<bool>,
    /// The workspace that it is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl From<DeploySource> for headwater_platform::DeploySource {
    fn from(request: DeploySource) -> Self {
        Self {
            component: ComponentInput {
                component_id: request.component_id.filter(|id| !id.is_empty()),
                component_code: request.component_code,
                component_url: request.component_url,
                component_dependencies: request.component_dependencies.unwrap_or_default(),
            },
            name: request.name,
            configured_props: request.configured_props.unwrap_or_default(),
            is_isolated: request.isolated.unwrap_or_default(),
            workspace_id: request.workspace_id.or(request.org_id),
        }
    }
}

/// A change of a source. `PUT` and `PATCH` differ in the meaning of an absent `active`.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"name": "Greeter", "active": false}))]
pub(crate) struct UpdateSource {
    /// A saved or published component: its id, its key, or `key@version`.
    component_id: Option<String>,
    /// New code. Without any `component_*` the code stays.
    component_code: Option<String>,
    /// URL to fetch the code from; with one of the others, only kept.
    component_url: Option<String>,
    /// Version ranges of npm packages that `component_code` imports without one, by name, as
    /// `dependencies` of the nearest `package.json` has them; other packages resolve to their latest
    /// release. Not part of Pipedream's API.
    component_dependencies: Option<BTreeMap<String, String>>,
    name: Option<String>,
    /// Whether the source is to run. Absent in a `PUT`: true.
    #[serde(default, deserialize_with = "lenient::boolean")]
    active: Option<bool>,
    /// Values that replace former ones prop by prop; null removes one.
    #[serde(default, deserialize_with = "lenient::object")]
    #[schema(value_type = Option<Object>)]
    configured_props: Option<ConfiguredProps>,
    /// Whether the source shares no worker with others. Not part of Pipedream's API.
    #[serde(default, deserialize_with = "lenient::boolean")]
    isolated: Option<bool>,
    /// Whether the packages of the source's code are to be the latest that it allows, instead of those
    /// that they were when it was saved. Not together with `component_*`. Not part of Pipedream's API.
    #[serde(default, deserialize_with = "lenient::boolean")]
    refresh_deps: Option<bool>,
}

impl UpdateSource {
    /// As `PUT` means it: `active` is true by default.
    pub(crate) fn put(self) -> headwater_platform::UpdateSource {
        let active = self.active.or(Some(true));
        Self { active, ..self }.patch()
    }

    /// The change of a `PATCH`: absent fields keep their values.
    pub(crate) fn patch(self) -> headwater_platform::UpdateSource {
        headwater_platform::UpdateSource {
            component: ComponentInput {
                component_id: self.component_id.filter(|id| !id.is_empty()),
                component_code: self.component_code,
                component_url: self.component_url,
                component_dependencies: self.component_dependencies.unwrap_or_default(),
            },
            name: self.name,
            active: self.active,
            configured_props: self.configured_props,
            is_isolated: self.isolated,
            refresh_deps: self.refresh_deps.unwrap_or_default(),
        }
    }
}

/// A run by hand.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"event": {"greeting": "hello"}}))]
pub(crate) struct RunSource {
    /// The event for `run`; a manual trigger's event if absent.
    pub(crate) event: Option<Value>,
}

/// Listings of sources or workflows that can be one of a workspace, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SourcesRequest {
    /// The workspace that is meant.
    #[param(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[param(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
    /// Parts of the name, separated by spaces, in any case; all of them. Not part of Pipedream's API.
    q: Option<String>,
    /// Only those that run on their triggers (`active`), that do not (`paused`), whose newest run has failed
    /// (`failing`), or that run on their triggers and have not failed (`ok`). Not part of Pipedream's API.
    #[param(inline)]
    state: Option<StandingChoice>,
    /// Only sources with a timer, with an HTTP endpoint (`http`), or with neither. Not part of Pipedream's API.
    #[param(inline)]
    trigger: Option<TriggerChoice>,
    /// Only sources whose component has a prop of this app, or a key that begins with its slug and a hyphen. Not part of
    /// Pipedream's API.
    app: Option<String>,
    /// Only sources whose component has this key. Not part of Pipedream's API.
    component: Option<String>,
    /// `health` adds `health` to each. Not part of Pipedream's API.
    expand: Option<String>,
}

impl SourcesRequest {
    pub(crate) fn workspace_id(&self) -> Option<WorkspaceId> {
        self.workspace_id.clone().or(self.org_id.clone())
    }

    /// The sources or workflows that are to be listed.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            trigger: self.trigger.map(Into::into),
            app: self.app.clone(),
            component: self.component.clone(),
            ..wanted(self.q.as_deref(), self.state)
        }
    }

    /// Whether sources are to be shown with their health.
    pub(crate) fn expands_health(&self) -> bool {
        expands(self.expand.as_deref(), "health")
    }
}

/// Listings of the sources of a workspace, besides pagination.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct WorkspaceSourcesRequest {
    /// Parts of the name, separated by spaces, in any case; all of them. Not part of Pipedream's API.
    q: Option<String>,
    /// Only those that run on their triggers (`active`), that do not (`paused`), whose newest run has failed
    /// (`failing`), or that run on their triggers and have not failed (`ok`). Not part of Pipedream's API.
    #[param(inline)]
    state: Option<StandingChoice>,
    /// Only sources with a timer, with an HTTP endpoint (`http`), or with neither. Not part of Pipedream's API.
    #[param(inline)]
    trigger: Option<TriggerChoice>,
    /// Only sources whose component has a prop of this app, or a key that begins with its slug and a hyphen. Not part of
    /// Pipedream's API.
    app: Option<String>,
    /// Only sources whose component has this key. Not part of Pipedream's API.
    component: Option<String>,
    /// `health` adds `health` to each. Not part of Pipedream's API.
    expand: Option<String>,
}

impl WorkspaceSourcesRequest {
    /// Whether sources are to be shown with their health.
    pub(crate) fn expands_health(&self) -> bool {
        expands(self.expand.as_deref(), "health")
    }

    /// The sources that are to be listed.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted {
            trigger: self.trigger.map(Into::into),
            app: self.app.clone(),
            component: self.component.clone(),
            ..wanted(self.q.as_deref(), self.state)
        }
    }
}

/// The states that a list can be reduced to.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum StandingChoice {
    Active,
    Paused,
    Failing,
    Ok,
}

/// The triggers that a list can be reduced to.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
enum TriggerChoice {
    Timer,
    Http,
    Neither,
}

impl From<TriggerChoice> for SourceTrigger {
    fn from(choice: TriggerChoice) -> Self {
        match choice {
            TriggerChoice::Timer => Self::Timer,
            TriggerChoice::Http => Self::Http,
            TriggerChoice::Neither => Self::Neither,
        }
    }
}

fn wanted(q: Option<&str>, state: Option<StandingChoice>) -> Wanted {
    Wanted {
        words: q
            .unwrap_or_default()
            .split_whitespace()
            .map(str::to_owned)
            .collect(),
        standing: state.map(|state| match state {
            StandingChoice::Active => Standing::Active,
            StandingChoice::Paused => Standing::Paused,
            StandingChoice::Failing => Standing::Failing,
            StandingChoice::Ok => Standing::Ok,
        }),
        ..Wanted::default()
    }
}

/// The parameters of sources that are shown.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SourceRequest {
    /// `health` adds `health` to each. Not part of Pipedream's API.
    expand: Option<String>,
}

impl SourceRequest {
    /// Whether sources are to be shown with their health.
    pub(crate) fn expands_health(&self) -> bool {
        expands(self.expand.as_deref(), "health")
    }
}

/// A source: a deployed component.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Source {
    #[schema(value_type = id::Source)]
    id: SourceId,
    #[schema(value_type = id::User)]
    user_id: UserId,
    /// The saved component that it runs.
    #[schema(value_type = id::Component)]
    component_id: ComponentId,
    /// Values of the component's props, by name. An HTTP interface is shown as `{"endpoint_url"}`,
    /// a timer as `{"cron", "interval_seconds"}`, a secret as null.
    #[schema(value_type = Object)]
    configured_props: ConfiguredProps,
    /// The props whose configured values are secret, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    secret_props: BTreeMap<String, SecretProp>,
    /// The deployment that it runs. Not part of Pipedream's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Deployment>)]
    deployment_id: Option<DeploymentId>,
    /// Features of the component that do not work on this node; returned by deployments and updates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    warnings: Vec<String>,
    active: bool,
    /// Present and true if it shares no worker with other sources.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    isolated: bool,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    created_at: EpochSeconds,
    /// Unix time in seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
    name: String,
    name_slug: String,
    /// The workspace that it is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
    /// With `expand=health`: its newest run and event, since when it fails, its next tick. Not part of Pipedream's API.
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<SourceHealth>,
}

impl Source {
    /// The source with its health, if that is to be shown.
    pub(crate) fn with_health(self, health: Option<headwater_platform::SourceHealth>) -> Self {
        let health = health.map(SourceHealth::from);
        Self { health, ..self }
    }
}

/// A mark that a secret value is set.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SecretProp {
    /// Always true.
    secret: bool,
}

impl SecretProp {
    /// The marks of these props.
    pub(crate) fn marks(names: Vec<String>) -> BTreeMap<String, Self> {
        let names = names.into_iter();
        names.map(|name| (name, Self { secret: true })).collect()
    }
}

impl From<SourceView> for Source {
    fn from(view: SourceView) -> Self {
        let active = view.active();
        let source = view.source;
        Self {
            id: source.id,
            user_id: source.owner.user_id,
            component_id: source.spec.component_id,
            deployment_id: source.deployment_id,
            configured_props: view.configured_props,
            secret_props: SecretProp::marks(view.secrets),
            warnings: view.warnings,
            active,
            isolated: source.spec.is_isolated,
            created_at: source.created_at,
            updated_at: source.updated_at,
            name: source.spec.name,
            name_slug: source.name_slug,
            org_id: source.owner.workspace_id.clone(),
            workspace_id: source.owner.workspace_id,
            health: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn put_activates_unless_told_otherwise_and_patch_does_not() {
        let request = |text| serde_json::from_str::<UpdateSource>(text).unwrap();
        assert_eq!(request("{}").put().active, Some(true));
        assert_eq!(request(r#"{"active": false}"#).put().active, Some(false));
        assert_eq!(request("{}").patch().active, None);
        assert!(request(r#"{"name": "n"}"#).put().component.is_empty());
    }
}
