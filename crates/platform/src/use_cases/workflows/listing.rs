//! Lists: workflows, and their runs.

use headwater_model::{
    id::{InvocationId, RunnableId, WorkflowId, WorkspaceId},
    page::{Page, PageRequest},
};
use headwater_store::{OpenRun, RunFilter, SourceFilter};

use super::{WorkflowRunSummary, WorkflowView, runs::Moment};
use crate::{caller::Caller, error::PlatformError, platform::Platform};

impl Platform {
    /// A page of workflows in creation order: those of a workspace, or all that the caller created.
    pub async fn workflows(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<WorkflowView>, PlatformError> {
        let filter = match workspace_id {
            Some(id) => {
                self.check_member(caller, &id).await?;
                SourceFilter::Workspace(id)
            }
            None => SourceFilter::User(caller.user_id().clone()),
        };
        let found = self.core.store.workflows(&filter, page).await?;
        let mut items = Vec::new();
        for workflow in found.items {
            items.push(self.workflow_view(workflow).await?);
        }
        Ok(Page {
            items,
            total_count: found.total_count,
        })
    }

    /// A page of a workflow's runs, newest first: those that have not ended, or those that have.
    pub async fn workflow_runs(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        is_open: bool,
        filter: RunFilter,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<WorkflowRunSummary>, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        let runnable = id.clone().into();
        let store = &self.core.store;
        if is_open {
            let now = self.moment_of(&workflow).await?;
            let open = store.open_runs(&runnable, page).await?;
            let items = open
                .items
                .iter()
                .map(|run| WorkflowRunSummary::of_open(run, now));
            return Ok(Page {
                items: items.collect(),
                total_count: open.total_count,
            });
        }
        let ended = store.runs(&runnable, filter, page).await?;
        let items = ended.items.iter().map(WorkflowRunSummary::of_ended);
        Ok(Page {
            items: items.collect(),
            total_count: ended.total_count,
        })
    }

    /// A run that has not ended, of a workflow or of a source, as lists show it.
    pub(in crate::use_cases) async fn open_run_summary(
        &self,
        run: &OpenRun,
    ) -> Result<WorkflowRunSummary, PlatformError> {
        let workflow = match &run.runnable {
            RunnableId::Source(_) => None,
            RunnableId::Workflow(id) => self.core.store.workflow(id).await?,
        };
        let now = match workflow {
            Some(workflow) => self.moment_of(&workflow).await?,
            None => Moment {
                now_ms: self.core.env.now_ms(),
                is_limited: false,
            },
        };
        Ok(WorkflowRunSummary::of_open(run, now))
    }
}
