//! Variables, not part of Pipedream's API.

use headwater_model::{id::WorkspaceId, time::EpochSeconds};
use headwater_platform::VariableView;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::id;

/// `PUT /variables/{name}`.
#[derive(Debug, Deserialize, ToSchema)]
pub(crate) struct SetVariable {
    /// Its value, which no response shows. Required.
    pub(crate) value: Option<String>,
    /// The workspace that it is for.
    #[schema(value_type = Option<id::Workspace>)]
    workspace_id: Option<WorkspaceId>,
    /// The same under its other name.
    #[schema(value_type = Option<id::Workspace>)]
    org_id: Option<WorkspaceId>,
}

impl SetVariable {
    pub(crate) fn workspace_id(&self) -> Option<WorkspaceId> {
        self.workspace_id.clone().or(self.org_id.clone())
    }
}

/// A variable.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Variable {
    name: String,
    /// When it was set, epoch seconds.
    #[schema(value_type = u64)]
    updated_at: EpochSeconds,
}

impl From<VariableView> for Variable {
    fn from(variable: VariableView) -> Self {
        Self {
            name: variable.name,
            updated_at: variable.updated_at,
        }
    }
}
