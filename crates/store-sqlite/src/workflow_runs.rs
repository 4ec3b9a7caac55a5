//! Runs of workflows behind the trait.

use async_trait::async_trait;
use bytes::Bytes;
use headwater_model::{
    id::{InvocationId, RunnableId, WorkflowId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    OpenRun, PlaceWrite, RunKey, StoreError, WaitResolution, WaitResolved, Workflow, WorkflowRuns,
};
use serde_json::value::RawValue;

use crate::{run_keys, run_places, store::SqliteStore, waiting_runs, workflow_rows};

#[async_trait]
impl WorkflowRuns for SqliteStore {
    async fn run_places(&self, id: &InvocationId) -> Result<Vec<PlaceWrite>, StoreError> {
        let id = id.clone();
        self.read(move |connection| run_places::places(connection, id.as_str()))
            .await
    }

    async fn run_blob(&self, id: &InvocationId, hash: &str) -> Result<Option<Bytes>, StoreError> {
        #[cfg(feature = "faults")]
        if self.faults().has_lost(hash) {
            return Ok(None);
        }
        let (id, hash) = (id.clone(), hash.to_owned());
        self.read(move |connection| run_places::blob(connection, id.as_str(), &hash))
            .await
    }

    async fn run_details(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError> {
        let id = id.clone();
        self.read(move |connection| run_places::details(connection, id.as_str()))
            .await
    }

    async fn run_event(&self, id: &InvocationId) -> Result<Option<Box<RawValue>>, StoreError> {
        let id = id.clone();
        self.read(move |connection| run_places::event(connection, id.as_str()))
            .await
    }

    async fn open_run(&self, id: &InvocationId) -> Result<Option<OpenRun>, StoreError> {
        let id = id.clone();
        self.read(move |connection| run_places::open_run(connection, id.as_str()))
            .await
    }

    async fn open_runs(
        &self,
        runnable: &RunnableId,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<OpenRun>, StoreError> {
        let (runnable, page) = (runnable.clone(), page.clone());
        self.read(move |connection| run_places::open_runs(connection, runnable.as_str(), &page))
            .await
    }

    async fn resolve_wait(
        &self,
        resolution: WaitResolution,
        now_ms: EpochMs,
    ) -> Result<WaitResolved, StoreError> {
        self.write(move |connection| run_places::resolve(connection, &resolution, now_ms))
            .await
    }

    async fn take_run_key(&self, key: RunKey, now_ms: EpochMs) -> Result<bool, StoreError> {
        self.write(move |connection| run_keys::take(connection, &key, now_ms))
            .await
    }

    async fn waiting_beyond(
        &self,
        id: &WorkflowId,
        size: u32,
        limit: u32,
    ) -> Result<Vec<InvocationId>, StoreError> {
        let id = id.clone();
        self.read(move |connection| waiting_runs::beyond(connection, id.as_str(), size, limit))
            .await
    }

    async fn resolutions(&self, runs: &[InvocationId]) -> Result<Vec<WaitResolution>, StoreError> {
        let runs = runs.to_vec();
        self.read(move |connection| run_places::resolutions(connection, &runs))
            .await
    }

    async fn workflow_of_runs(
        &self,
        id: &WorkflowId,
        runs: &[InvocationId],
    ) -> Result<Option<(Workflow, Vec<WaitResolution>)>, StoreError> {
        let (id, runs) = (id.clone(), runs.to_vec());
        self.read(move |connection| {
            let Some(workflow) = workflow_rows::by_id(connection, id.as_str())? else {
                return Ok(None);
            };
            Ok(Some((
                workflow,
                run_places::resolutions(connection, &runs)?,
            )))
        })
        .await
    }
}
