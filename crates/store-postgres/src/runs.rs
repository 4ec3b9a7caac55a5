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

use crate::{
    causes, database::Transaction, run_events, run_expiry, run_records, run_retention,
    store::PostgresStore,
};

#[async_trait]
impl Runs for PostgresStore {
    async fn run(&self, id: &InvocationId) -> Result<Option<RunRecord>, StoreError> {
        self.read(|connection| async move { run_records::by_id(&connection, id.as_str()).await })
            .await
    }

    async fn runs(
        &self,
        runnable: &RunnableId,
        filter: RunFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<RunRecord>, StoreError> {
        let filter = &filter;
        self.read(|connection| async move {
            run_records::page(&connection, runnable.as_str(), filter, page).await
        })
        .await
    }

    async fn run_events(&self, run: &RunRecord, limit: u32) -> Result<Vec<Event>, StoreError> {
        let Some(stretch) = run.stretch() else {
            return Ok(Vec::new());
        };
        let stretch = &stretch;
        self.read(|connection| async move { run_events::all(&connection, stretch, limit).await })
            .await
    }

    async fn ordinary_run_events(
        &self,
        stretch: &RunStretch,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        self.read(
            |connection| async move { run_events::ordinary(&connection, stretch, limit).await },
        )
        .await
    }

    async fn caused_runs(
        &self,
        event: &EventRef,
        viewer: &Viewer,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<ListedRun>, StoreError> {
        self.read(|connection| async move { causes::runs(&connection, event, viewer, page).await })
            .await
    }

    async fn trim_runs(&self, keep: KeptRuns, limit: u32) -> Result<Progress, StoreError> {
        let has_work = |connection| async move { run_retention::has_work(&connection, keep).await };
        let step = |connection| async move { run_retention::trim(&connection, keep, limit).await };
        self.progress_if(Transaction::Appending, has_work, step)
            .await
    }

    async fn expire_runs(&self, now_ms: EpochMs, limit: u32) -> Result<Progress, StoreError> {
        let has_work = |connection| async move { run_expiry::has_work(&connection, now_ms).await };
        let step = |connection| async move { run_expiry::step(&connection, now_ms, limit).await };
        self.progress_if(Transaction::Writing, has_work, step).await
    }
}
