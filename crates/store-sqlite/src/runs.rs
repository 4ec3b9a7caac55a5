//! Records of runs behind the trait.

use async_trait::async_trait;
use headwater_model::{
    event::{Event, EventRef},
    id::{InvocationId, RunnableId},
    page::{Page, PageRequest},
    time::EpochMs,
};
use headwater_store::{
    KeptRuns, ListedRun, Progress, RunFilter, RunRecord, RunStretch, Runs, StoreError, Viewer,
};

use crate::{causes, run_events, run_expiry, run_records, run_retention, store::SqliteStore};

#[async_trait]
impl Runs for SqliteStore {
    async fn run(&self, id: &InvocationId) -> Result<Option<RunRecord>, StoreError> {
        let id = id.clone();
        self.read(move |connection| run_records::by_id(connection, id.as_str()))
            .await
    }

    async fn runs(
        &self,
        runnable: &RunnableId,
        filter: RunFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<RunRecord>, StoreError> {
        let (runnable, page) = (runnable.clone(), page.clone());
        self.read(move |connection| {
            run_records::page(connection, runnable.as_str(), &filter, &page)
        })
        .await
    }

    async fn run_events(&self, run: &RunRecord, limit: u32) -> Result<Vec<Event>, StoreError> {
        let Some(stretch) = run.stretch() else {
            return Ok(Vec::new());
        };
        self.read(move |connection| run_events::all(connection, &stretch, limit))
            .await
    }

    async fn ordinary_run_events(
        &self,
        stretch: &RunStretch,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let stretch = stretch.clone();
        self.read(move |connection| run_events::ordinary(connection, &stretch, limit))
            .await
    }

    async fn caused_runs(
        &self,
        event: &EventRef,
        viewer: &Viewer,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<ListedRun>, StoreError> {
        let (event, viewer, page) = (event.clone(), viewer.clone(), page.clone());
        self.read(move |connection| causes::runs(connection, &event, &viewer, &page))
            .await
    }

    async fn trim_runs(&self, keep: KeptRuns, limit: u32) -> Result<Progress, StoreError> {
        let has_work = move |connection: &_| run_retention::has_work(connection, keep);
        let step = move |connection: &_| run_retention::trim(connection, keep, limit);
        self.progress_if(has_work, step).await
    }

    async fn expire_runs(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let has_work = move |connection: &_| run_expiry::has_work(connection, now_ms);
        let step = move |connection: &_| run_expiry::step(connection, now_ms, limit);
        self.progress_if(has_work, step).await
    }
}
