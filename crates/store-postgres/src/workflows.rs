//! Workflows behind the trait.

use async_trait::async_trait;
use headwater_model::{
    endpoint::EndpointToken,
    id::{DeploymentId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    Deployment, NodeEpoch, Progress, RunnableFilter, RunnableLease, StoreError, Workflow,
    WorkflowDeploy, WorkflowEndpoint, Workflows,
};

use crate::{living, store::PostgresStore, workflow_rows};

#[async_trait]
impl Workflows for PostgresStore {
    async fn deploy_workflow(&self, deploy: WorkflowDeploy) -> Result<Workflow, StoreError> {
        let deploy = &deploy;
        self.write(|connection| async move { workflow_rows::deploy(&connection, deploy).await })
            .await
    }

    async fn workflow(&self, id: &WorkflowId) -> Result<Option<Workflow>, StoreError> {
        self.read(|connection| async move { workflow_rows::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn workflow_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<(Workflow, WorkflowEndpoint)>, StoreError> {
        self.read(|connection| async move {
            workflow_rows::by_endpoint(&connection, token.as_str()).await
        })
        .await
    }

    async fn workflow_endpoints(
        &self,
        id: &WorkflowId,
    ) -> Result<Vec<WorkflowEndpoint>, StoreError> {
        self.read(
            |connection| async move { workflow_rows::endpoints(&connection, id.as_str()).await },
        )
        .await
    }

    async fn workflows(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<Workflow>, StoreError> {
        self.read(|connection| async move { workflow_rows::page(&connection, filter, page).await })
            .await
    }

    async fn deployment(&self, id: &DeploymentId) -> Result<Option<Deployment>, StoreError> {
        self.read(
            |connection| async move { workflow_rows::deployment(&connection, id.as_str()).await },
        )
        .await
    }

    async fn deployments(
        &self,
        id: &WorkflowId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<Deployment>, StoreError> {
        self.read(|connection| async move {
            workflow_rows::deployments(&connection, id.as_str(), page).await
        })
        .await
    }

    async fn set_workflow_active(
        &self,
        id: &WorkflowId,
        is_active: bool,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        self.write(|connection| async move {
            workflow_rows::set_active(&connection, id, is_active, now_ms).await
        })
        .await
    }

    async fn begin_workflow_deletion(&self, id: &WorkflowId) -> Result<bool, StoreError> {
        self.write_locking(|connection| async move {
            workflow_rows::begin_deletion(&connection, id).await
        })
        .await
    }

    async fn empty_workflow(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        self.write(
            |connection| async move { workflow_rows::empty(&connection, lease, limit).await },
        )
        .await
    }

    async fn delete_workflow(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        self.write(|connection| async move { workflow_rows::delete(&connection, lease).await })
            .await
    }

    async fn deleting_workflows(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<WorkflowId>, StoreError> {
        self.read(|connection| async move {
            let others = living::besides(&connection, epoch, now_ms).await?;
            workflow_rows::deleting(&connection, &others, limit).await
        })
        .await
    }
}
