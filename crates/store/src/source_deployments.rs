//! The deployments of sources: the code and the values that a source ran with, from each deployment or update on.

use async_trait::async_trait;
use headwater_model::{
    hash::CodeHash,
    id::{ComponentId, DeploymentId, SourceId, UserId},
    page::{Page, PageRequest},
    prop::ConfiguredProps,
    time::EpochMs,
};

use crate::error::StoreError;

/// The deployments that are kept of a source: the newest of them, the running one included.
pub const SOURCE_DEPLOYMENTS_KEPT: u32 = 20;

/// The part of a settlement that makes it a deployment, to be found again later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSourceDeployment {
    /// Its id.
    pub id: DeploymentId,
    /// The user that deploys.
    pub user_id: UserId,
    /// The former deployment whose code and values are taken up again.
    pub restores: Option<DeploymentId>,
}

/// A deployment of a source. Never changes.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceDeployment {
    /// Its id.
    pub id: DeploymentId,
    /// The source.
    pub source_id: SourceId,
    /// Its code, as it named itself.
    pub component: DeployedComponent,
    /// Values by prop; secrets are sealed.
    pub configured_props: ConfiguredProps,
    /// Whether the source shared no worker with others.
    pub is_isolated: bool,
    /// Epoch milliseconds.
    pub created_at_ms: EpochMs,
    /// The user that deployed; none if that was before deployments were kept.
    pub deployed_by: Option<UserId>,
    /// That user's name, while there is such a user.
    pub deployed_by_name: Option<String>,
    /// The former deployment whose code and values it took up again.
    pub restores: Option<DeploymentId>,
}

/// The saved component of a deployment: enough to tell it from others without its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployedComponent {
    /// Its id.
    pub id: ComponentId,
    /// Its name.
    pub name: String,
    /// Its key.
    pub key: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// SHA-256 of its code, hexadecimal.
    pub code_hash: CodeHash,
}

/// The deployments of sources. Writing happens in [`crate::Catalog::settle_source`] only.
#[async_trait]
pub trait SourceDeployments {
    /// A page of a source's deployments, oldest first.
    /// MUST be what each settlement wrote that came with a deployment, with that one's parts, however the source changed
    /// since (`conformance::source_deployments::a_settlement_keeps_what_it_deployed`).
    /// MUST be the newest [`SOURCE_DEPLOYMENTS_KEPT`] of them, whatever the clock said
    /// (`conformance::source_deployments::the_newest_deployments_are_kept`).
    async fn source_deployments(
        &self,
        id: &SourceId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<SourceDeployment>, StoreError>;

    /// A deployment of this source. That of another source MUST NOT be found
    /// (`conformance::source_deployments::a_deployment_is_its_sources_alone`).
    async fn source_deployment(
        &self,
        source_id: &SourceId,
        id: &DeploymentId,
    ) -> Result<Option<SourceDeployment>, StoreError>;

    /// The source whose deployment this is, whoever owns it. MUST be that of
    /// [`SourceDeployments::source_deployment`]
    /// (`conformance::source_deployments::a_deployment_is_its_sources_alone`).
    async fn deployed_source(&self, id: &DeploymentId) -> Result<Option<SourceId>, StoreError>;
}
