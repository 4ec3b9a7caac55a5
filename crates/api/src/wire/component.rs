//! Components (spec "Component (saved component)").

use headwater_app::{ComponentInput, SavedComponent};
use headwater_model::{
    component::ComponentType,
    id::{ComponentId, WorkspaceId},
    prop::PropDefinition,
};
use serde::{Deserialize, Serialize};

/// `POST /components`.
#[derive(Debug, Deserialize)]
pub(crate) struct SaveComponent {
    component_code: Option<String>,
    component_url: Option<String>,
    workspace_id: Option<WorkspaceId>,
    org_id: Option<WorkspaceId>,
}

impl SaveComponent {
    pub(crate) fn into_parts(self) -> (ComponentInput, Option<WorkspaceId>) {
        let input = ComponentInput {
            component_id: None,
            component_code: self.component_code,
            component_url: self.component_url,
        };
        (input, self.workspace_id.or(self.org_id))
    }
}

/// `GET /components/{key|id}`: the workspace whose keys are meant.
#[derive(Debug, Deserialize)]
pub(crate) struct ComponentScope {
    workspace_id: Option<WorkspaceId>,
    org_id: Option<WorkspaceId>,
}

impl ComponentScope {
    pub(crate) fn workspace_id(self) -> Option<WorkspaceId> {
        self.workspace_id.or(self.org_id)
    }
}

/// A saved component.
#[derive(Debug, Serialize)]
pub(crate) struct Component {
    id: ComponentId,
    code: String,
    code_hash: String,
    name: String,
    version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<String>,
    #[serde(rename = "type")]
    component_type: ComponentType,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    configurable_props: Vec<PropDefinition>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component_url: Option<String>,
    created_at: u64,
    updated_at: u64,
}

impl From<SavedComponent> for Component {
    fn from(saved: SavedComponent) -> Self {
        let description = saved.description;
        Self {
            id: saved.id,
            code: saved.code,
            code_hash: saved.code_hash,
            name: description.name,
            version: description.version,
            key: description.key,
            component_type: description.component_type,
            description: description.description,
            configurable_props: description.props,
            component_url: saved.code_url,
            created_at: saved.created_at,
            updated_at: saved.updated_at,
        }
    }
}
