//! The deployments of sources; not part of Pipedream's API.

use std::collections::BTreeMap;

use headwater_model::{
    hash::CodeHash,
    id::{ComponentId, DeploymentId, UserId},
    prop::ConfiguredProps,
    time::EpochMs,
};
use headwater_platform::{SourceDeploymentDetail, SourceDeploymentView};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{component::Component, id, source::SecretProp};

/// A deployment of a source in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SourceDeploymentSummary)]
pub(crate) struct Summary {
    #[schema(value_type = id::Deployment)]
    id: DeploymentId,
    /// Epoch milliseconds.
    #[schema(value_type = u64)]
    created_at_ms: EpochMs,
    /// Whether the source runs it.
    current: bool,
    /// The saved component.
    #[schema(value_type = id::Component)]
    component_id: ComponentId,
    component_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    component_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    component_version: Option<String>,
    /// SHA-256 of the code.
    #[schema(value_type = String)]
    code_hash: CodeHash,
    /// The user that deployed. Absent if that was before the node kept deployments.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::User>)]
    user_id: Option<UserId>,
    /// That user's name, while there is such a user.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<String>,
    /// The former deployment that it took up again, if it came from rolling back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<id::Deployment>)]
    restores: Option<DeploymentId>,
}

/// A deployment of a source with its values and its code.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SourceDeployment)]
pub(crate) struct Deployment {
    #[serde(flatten)]
    deployment: Summary,
    /// Values of the component's props, by name. A secret is shown as null.
    #[schema(value_type = Object)]
    configured_props: ConfiguredProps,
    /// The props whose configured values are secret, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    secret_props: BTreeMap<String, SecretProp>,
    /// Present and true if the source shared no worker with other sources.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    isolated: bool,
    /// The saved component with its code and its packages. Absent if the caller cannot see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    component: Option<Component>,
}

/// The way back to a former deployment.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(example = json!({"deployment_id": "d_0DkqLtSyJ4yOMpWg5tVxNq"}))]
pub(crate) struct RollBackSource {
    /// The deployment whose code and values the source is to run again.
    #[schema(value_type = id::Deployment)]
    pub(crate) deployment_id: DeploymentId,
}

impl From<SourceDeploymentView> for Summary {
    fn from(view: SourceDeploymentView) -> Self {
        let deployment = view.deployment;
        Self {
            id: deployment.id,
            created_at_ms: deployment.created_at_ms,
            current: view.is_current,
            component_id: deployment.component.id,
            component_name: deployment.component.name,
            component_key: deployment.component.key,
            component_version: deployment.component.version,
            code_hash: deployment.component.code_hash,
            user_id: deployment.deployed_by,
            username: deployment.deployed_by_name,
            restores: deployment.restores,
        }
    }
}

impl From<SourceDeploymentDetail> for Deployment {
    fn from(detail: SourceDeploymentDetail) -> Self {
        let SourceDeploymentDetail { view, component } = detail;
        let deployment = &view.deployment;
        Self {
            configured_props: deployment.configured_props.clone(),
            secret_props: SecretProp::marks(view.secrets.clone()),
            isolated: deployment.is_isolated,
            deployment: view.into(),
            component: component.map(Component::from),
        }
    }
}
