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

use crate::{store::SqliteStore, workflow_rows};

#[async_trait]
impl Workflows for SqliteStore {
    async fn deploy_workflow(&self, deploy: WorkflowDeploy) -> Result<Workflow, StoreError> {
        self.write(move |connection| workflow_rows::deploy(connection, &deploy))
            .await
    }

    async fn workflow(&self, id: &WorkflowId) -> Result<Option<Workflow>, StoreError> {
        let id = id.clone();
        self.read(move |connection| workflow_rows::by_id(connection, id.as_str()))
            .await
    }

    async fn workflow_by_endpoint(
        &self,
        token: &EndpointToken,
    ) -> Result<Option<(Workflow, WorkflowEndpoint)>, StoreError> {
        let token = token.clone();
        self.read(move |connection| workflow_rows::by_endpoint(connection, token.as_str()))
            .await
    }

    async fn workflow_endpoints(
        &self,
        id: &WorkflowId,
    ) -> Result<Vec<WorkflowEndpoint>, StoreError> {
        let id = id.clone();
        self.read(move |connection| workflow_rows::endpoints(connection, id.as_str()))
            .await
    }

    async fn workflows(
        &self,
        filter: &RunnableFilter,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<Workflow>, StoreError> {
        let (filter, page) = (filter.clone(), page.clone());
        self.read(move |connection| workflow_rows::page(connection, &filter, &page))
            .await
    }

    async fn deployment(&self, id: &DeploymentId) -> Result<Option<Deployment>, StoreError> {
        let id = id.clone();
        self.read(move |connection| workflow_rows::deployment(connection, id.as_str()))
            .await
    }

    async fn deployments(
        &self,
        id: &WorkflowId,
        page: &PageRequest<DeploymentId>,
    ) -> Result<Page<Deployment>, StoreError> {
        let (id, page) = (id.clone(), page.clone());
        self.read(move |connection| workflow_rows::deployments(connection, id.as_str(), &page))
            .await
    }

    async fn set_workflow_active(
        &self,
        id: &WorkflowId,
        is_active: bool,
        now_ms: EpochMs,
    ) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| workflow_rows::set_active(connection, &id, is_active, now_ms))
            .await
    }

    async fn begin_workflow_deletion(&self, id: &WorkflowId) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |connection| workflow_rows::begin_deletion(connection, &id))
            .await
    }

    async fn empty_workflow(
        &self,
        lease: &RunnableLease,
        limit: u32,
    ) -> Result<Progress, StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| workflow_rows::empty(connection, &living, &lease, limit))
            .await
    }

    async fn delete_workflow(&self, lease: &RunnableLease) -> Result<(), StoreError> {
        let (living, lease) = (self.living.clone(), lease.clone());
        self.write(move |connection| workflow_rows::delete(connection, &living, &lease))
            .await
    }

    async fn deleting_workflows(
        &self,
        epoch: NodeEpoch,
        now_ms: EpochMs,
        limit: u32,
    ) -> Result<Vec<WorkflowId>, StoreError> {
        let others = self.living.besides(epoch, now_ms);
        self.read(move |connection| workflow_rows::deleting(connection, &others, limit))
            .await
    }
}
