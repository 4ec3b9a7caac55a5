//! Lists: workflows with their health, and their runs.

use std::collections::HashMap;

use headwater_model::{
    id::{InvocationId, RunnableId, WorkflowId, WorkspaceId},
    page::{Page, PageRequest},
};
use headwater_store::{
    OpenRun, OutcomeFilter, RunFilter, RunOutcome, Wanted, Workflow, WorkflowHealth,
};

use super::{
    WorkflowRunStatus, WorkflowRunSummary, WorkflowView, runs::Moment, selection::Selection,
};
use crate::{caller::Caller, error::PlatformError, platform::Platform};

/// Runs of a workflow to list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsFilter {
    /// Those that have not ended.
    Open,
    /// Those that have.
    Ended,
    /// Those with this status. A page finds them among the next 10,000; its total may include others.
    Status(WorkflowRunStatus),
}

impl RunsFilter {
    /// Whether runs are meant that have not ended.
    fn is_open(self) -> bool {
        match self {
            Self::Open => true,
            Self::Ended => false,
            Self::Status(status) => status.is_open(),
        }
    }

    /// The outcomes among which the runs are, and the status to select them by, if these are also those of others.
    fn parts(self) -> (Option<OutcomeFilter>, Option<WorkflowRunStatus>) {
        let Self::Status(status) = self else {
            return (None, None);
        };
        match status {
            WorkflowRunStatus::Queued | WorkflowRunStatus::Running | WorkflowRunStatus::Waiting => {
                (None, Some(status))
            }
            WorkflowRunStatus::Succeeded => (Some(OutcomeFilter::Succeeded), None),
            WorkflowRunStatus::Failed => (Some(OutcomeFilter::Failed), Some(status)),
            WorkflowRunStatus::Cancelled => {
                (Some(OutcomeFilter::Exactly(RunOutcome::Cancelled)), None)
            }
        }
    }
}

impl Platform {
    /// A page of workflows in creation order: those of a workspace, or all that the caller created.
    pub async fn workflows(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        wanted: Wanted,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<WorkflowView>, PlatformError> {
        let found = self.listed_workflows(caller, workspace_id, wanted, page);
        let found = found.await?;
        let mut items = Vec::new();
        for workflow in found.items {
            items.push(self.workflow_view(workflow).await?);
        }
        Ok(Page {
            items,
            total_count: found.total_count,
        })
    }

    /// The same without their triggers.
    pub async fn listed_workflows(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        wanted: Wanted,
        page: &PageRequest<WorkflowId>,
    ) -> Result<Page<Workflow>, PlatformError> {
        let filter = self.runnables(caller, workspace_id, wanted).await?;
        Ok(self.core.store.workflows(&filter, page).await?)
    }

    /// The health of workflows that the caller has been shown, in their order.
    pub async fn workflows_health(
        &self,
        ids: &[WorkflowId],
    ) -> Result<Vec<WorkflowHealth>, PlatformError> {
        Ok(self.core.store.workflows_health(ids).await?)
    }

    /// A page of a workflow's runs, newest first.
    pub async fn workflow_runs(
        &self,
        caller: &Caller,
        id: &WorkflowId,
        filter: RunsFilter,
        page: PageRequest<InvocationId>,
    ) -> Result<Page<WorkflowRunSummary>, PlatformError> {
        let workflow = self.visible_workflow(caller, id).await?;
        let (outcome, selected) = filter.parts();
        let mut selection = Selection::new(selected, page);
        while let Some(next) = selection.next() {
            let read = match filter.is_open() {
                true => self.open_runs(&workflow, &next).await?,
                false => self.ended_runs(id, outcome, &next).await?,
            };
            selection.take(read);
        }
        Ok(selection.found)
    }

    async fn open_runs(
        &self,
        workflow: &Workflow,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<WorkflowRunSummary>, PlatformError> {
        let now = self.moment_of(workflow).await?;
        let runnable = workflow.id.clone().into();
        let open = self.core.store.open_runs(&runnable, page).await?;
        let items = open.items.iter();
        Ok(Page {
            items: items
                .map(|run| WorkflowRunSummary::of_open(run, now))
                .collect(),
            total_count: open.total_count,
        })
    }

    async fn ended_runs(
        &self,
        id: &WorkflowId,
        outcome: Option<OutcomeFilter>,
        page: &PageRequest<InvocationId>,
    ) -> Result<Page<WorkflowRunSummary>, PlatformError> {
        let filter = RunFilter {
            outcome,
            ..RunFilter::default()
        };
        let ended = self
            .core
            .store
            .runs(&id.clone().into(), filter, page)
            .await?;
        let items = ended.items.iter().map(WorkflowRunSummary::of_ended);
        Ok(Page {
            items: items.collect(),
            total_count: ended.total_count,
        })
    }

    /// A run that has not ended among others in a list, of whatever workflow or source. The status of runs that a node
    /// has depends on their workflow, which is remembered.
    pub(in crate::use_cases) async fn open_run_among(
        &self,
        run: &OpenRun,
        moments: &mut HashMap<WorkflowId, Moment>,
    ) -> Result<WorkflowRunSummary, PlatformError> {
        let elsewhere = Moment {
            now_ms: self.core.env.now_ms(),
            is_limited: false,
        };
        let now = match &run.runnable {
            RunnableId::Workflow(id) if run.is_leased => match moments.get(id) {
                Some(moment) => *moment,
                None => {
                    let workflow = self.core.store.workflow(id).await?;
                    let moment = match workflow {
                        Some(workflow) => self.moment_of(&workflow).await?,
                        None => elsewhere,
                    };
                    moments.insert(id.clone(), moment);
                    moment
                }
            },
            RunnableId::Workflow(_) | RunnableId::Source(_) => elsewhere,
        };
        Ok(WorkflowRunSummary::of_open(run, now))
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
