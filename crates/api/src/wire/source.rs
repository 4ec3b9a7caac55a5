//! Sources (spec "Source (deployed component)").

use headwater_app::{ComponentInput, SourceView};
use headwater_model::{
    id::{ComponentId, SourceId, UserId, WorkspaceId},
    prop::ConfiguredProps,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::extract;

/// `POST /sources/`.
#[derive(Debug, Deserialize)]
pub(crate) struct DeploySource {
    component_id: Option<String>,
    component_code: Option<String>,
    component_url: Option<String>,
    name: Option<String>,
    #[serde(default, deserialize_with = "extract::object")]
    configured_props: Option<ConfiguredProps>,
    workspace_id: Option<WorkspaceId>,
    org_id: Option<WorkspaceId>,
}

impl From<DeploySource> for headwater_app::DeploySource {
    fn from(request: DeploySource) -> Self {
        Self {
            component: ComponentInput {
                component_id: request.component_id,
                component_code: request.component_code,
                component_url: request.component_url,
            },
            name: request.name,
            configured_props: request.configured_props.unwrap_or_default(),
            workspace_id: request.workspace_id.or(request.org_id),
        }
    }
}

/// `PUT` and `PATCH /sources/{id}`. They differ in what an absent `active` means.
#[derive(Debug, Deserialize)]
pub(crate) struct UpdateSource {
    component_id: Option<String>,
    component_code: Option<String>,
    component_url: Option<String>,
    name: Option<String>,
    #[serde(default, deserialize_with = "extract::boolean")]
    active: Option<bool>,
    #[serde(default, deserialize_with = "extract::object")]
    configured_props: Option<ConfiguredProps>,
}

impl UpdateSource {
    /// As `PUT` means it: `active` is true by default.
    pub(crate) fn put(self) -> headwater_app::UpdateSource {
        let active = self.active.or(Some(true));
        Self { active, ..self }.patch()
    }

    /// As `PATCH` means it: what is absent stays.
    pub(crate) fn patch(self) -> headwater_app::UpdateSource {
        headwater_app::UpdateSource {
            component: ComponentInput {
                component_id: self.component_id,
                component_code: self.component_code,
                component_url: self.component_url,
            },
            name: self.name,
            active: self.active,
            configured_props: self.configured_props,
        }
    }
}

/// `POST /sources/{id}/run`.
#[derive(Debug, Deserialize)]
pub(crate) struct RunSource {
    /// What `run` gets; a manual trigger's event when absent.
    pub(crate) event: Option<Value>,
}

/// A source.
#[derive(Debug, Serialize)]
pub(crate) struct Source {
    id: SourceId,
    user_id: UserId,
    component_id: ComponentId,
    configured_props: ConfiguredProps,
    active: bool,
    created_at: u64,
    updated_at: u64,
    name: String,
    name_slug: String,
    /// The same workspace under both names that parameters have for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    workspace_id: Option<WorkspaceId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    org_id: Option<WorkspaceId>,
}

impl From<SourceView> for Source {
    fn from(view: SourceView) -> Self {
        let active = view.active();
        let source = view.source;
        Self {
            id: source.id,
            user_id: source.owner.user_id,
            component_id: source.spec.component_id,
            configured_props: view.configured_props,
            active,
            created_at: source.created_at,
            updated_at: source.updated_at,
            name: source.spec.name,
            name_slug: source.name_slug,
            org_id: source.owner.workspace_id.clone(),
            workspace_id: source.owner.workspace_id,
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
