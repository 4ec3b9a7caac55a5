//! Runs of workflows behind the trait.

use async_trait::async_trait;
use bytes::Bytes;
use futures::try_join;
use headwater_model::{
    id::{InvocationId, RunnableId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    OpenRun, PlaceWrite, RunKey, StoreError, WaitResolution, WaitResolved, Workflow, WorkflowRuns,
};
use serde_json::value::RawValue;

use crate::{run_keys, run_places, store::PostgresStore, waiting_runs, workflow_rows};

#[async_trait]
impl WorkflowRuns for PostgresStore {
    async fn run_places(&self, id: &InvocationId) -> Result<Vec<PlaceWrite>, StoreError> {
        self.read(|connection| async move { run_places::places(&connection, id.as_str()).await })
            .await
    }

    async fn run_blob(&self, id: &InvocationId, hash: &str) -> Result<Option<Bytes>, StoreError> {
        self.read(
            |connection| async move { run_places::blob(&connection, id.as_str(), hash).await },
        )
        .await
    }

    async fn run_details(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError> {
        self.read(|connection| async move { run_places::details(&connection, id.as_str()).await })
            .await
    }

    async fn run_event(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError> {
        self.read(|connection| async move { run_places::event(&connection, id.as_str()).await })
            .await
    }

    async fn open_run(&self, id: &InvocationId) -> Result<Option<OpenRun>, StoreError> {
        self.read(|connection| async move { run_places::open_run(&connection, id.as_str()).await })
            .await
    }

    async fn open_runs(
        &self,
        runnable: &RunnableId,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<OpenRun>, StoreError> {
        self.read(|connection| async move {
            run_places::open_runs(&connection, runnable.as_str(), page).await
        })
        .await
    }

    async fn resolve_wait(
        &self,
        resolution: WaitResolution,
        now_ms: EpochMs,
    ) -> Result<WaitResolved, StoreError> {
        let resolution = &resolution;
        // With its turn, so that it does not overtake commits.
        self.append(|connection| async move {
            run_places::resolve(&connection, resolution, now_ms).await
        })
        .await
    }

    async fn take_run_key(&self, key: RunKey, now_ms: EpochMs) -> Result<bool, StoreError> {
        let key = &key;
        self.write(|connection| async move { run_keys::take(&connection, key, now_ms).await })
            .await
    }

    async fn waiting_beyond(
        &self,
        id: &WorkflowId,
        size: u32,
        limit: u32,
    ) -> Result<Vec<InvocationId>, StoreError> {
        self.read(|connection| async move {
            waiting_runs::beyond(&connection, id.as_str(), size, limit).await
        })
        .await
    }

    async fn resolutions(&self, runs: &[InvocationId]) -> Result<Vec<WaitResolution>, StoreError> {
        self.read(|connection| async move { run_places::resolutions(&connection, runs).await })
            .await
    }

    async fn workflow_of_runs(
        &self,
        id: &WorkflowId,
        runs: &[InvocationId],
    ) -> Result<Option<(Workflow, Vec<WaitResolution>)>, StoreError> {
        self.read(|connection| async move {
            let (workflow, answers) = try_join!(
                workflow_rows::by_id(&connection, id.as_str()),
                run_places::resolutions(&connection, runs),
            )?;
            Ok(workflow.map(|workflow| (workflow, answers)))
        })
        .await
    }
}
