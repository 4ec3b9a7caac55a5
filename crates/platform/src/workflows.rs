//! Running workflows: one actor per workflow with work, in memory only while it has some.
//!
//! A run is an invocation that stays until its end. Its state is a tree of places (`headwater_workflow::run`), written
//! with each step in one commit (docs/decisions/0025-a-run-is-a-tree-of-places.md).

mod account_masks;
mod actor;
mod admission;
pub(crate) mod bearer;
mod blob_texts;
mod calls;
mod command;
mod committing;
mod context;
mod deployed;
mod effects;
mod endings;
mod error_mail;
mod evaluator;
mod finding;
mod flight;
mod head;
mod held;
mod hiding;
mod http_event;
mod input;
mod live;
mod loading;
mod marks;
mod masking;
mod responders;
mod results;
mod services;
mod start;
mod step_logs;
mod step_state;
mod tokens;
mod variables;

use std::{sync::Arc, time::Duration};

use headwater_model::id::{InvocationId, RunnableId, WorkflowId};
use headwater_store::{Claimed, WaitId, WaitResolution, WaitResolved};
use headwater_workflow::{path::Path, run::Resolution};
use serde_json::value::to_raw_value;
use tokio::sync::{mpsc, oneshot};

pub(crate) use self::{
    account_masks::{AccountMasks, accounts_marked_in},
    admission::{bounds, is_limited},
    calls::NewRun,
    committing::RunDetails,
    context::WorkflowContext,
    deployed::Content,
    head::{Head, ReplayOf},
    http_event::{HttpEvent, with_urls},
    input::wait_id,
    loading::place_of,
    masking::{Mask, Masks},
    responders::RunResponse,
    step_logs::logged,
    tokens::WaitKey,
    variables::OpenedVariables,
};
use self::{
    actor::Actor,
    command::{Command, Handle, Open},
};
pub use self::{http_event::UploadPlace, tokens::WaitUrls};
use crate::error::PlatformError;

/// The time that a request for which there seems to be no room waits for runs that are about to begin.
const SETTLED_WITHIN: Duration = Duration::from_secs(2);

/// The time that a call for the end of a run waits for it.
const CANCELLED_WITHIN: Duration = Duration::from_secs(5);

/// The runs of workflows on this node.
#[derive(Clone)]
pub(crate) struct Workflows {
    context: Arc<WorkflowContext>,
}

impl Workflows {
    pub(crate) fn new(context: WorkflowContext) -> Self {
        Self {
            context: Arc::new(context),
        }
    }

    /// The things that runs share.
    pub(crate) fn context(&self) -> &WorkflowContext {
        &self.context
    }

    /// There may be runs to claim.
    pub(crate) fn wake(&self, id: &WorkflowId) {
        self.send(id, Command::Claim);
    }

    fn send(&self, id: &WorkflowId, command: Command) {
        let start = || {
            let (commands, receiver) = mpsc::unbounded_channel();
            let (context, open) = (Arc::clone(&self.context), Open::default());
            let actor = Actor::new(context, id.clone(), receiver, Arc::clone(&open));
            self.context.core.tasks.spawn(Box::new(actor).run());
            Handle { commands, open }
        };
        self.context
            .residents
            .with(id, start, |handle| handle.send(command));
    }

    /// Queues a run durably, and returns its id. Continues if the caller goes away.
    ///
    /// # Errors
    /// `Conflict` when the workflow is gone or takes no triggers.
    pub(crate) async fn queue(&self, new: NewRun) -> Result<InvocationId, PlatformError> {
        let id = self.context.core.env.id(InvocationId::new);
        self.queue_as(id.clone(), new).await?;
        Ok(id)
    }

    /// Queues a run, and waits for its response.
    ///
    /// # Errors
    /// The same; `Unavailable` when the node stops meanwhile, `NotFound` when the workflow is deleted.
    pub(crate) async fn respond(&self, new: NewRun) -> Result<RunResponse, PlatformError> {
        let id = self.context.core.env.id(InvocationId::new);
        let workflow = new.workflow.clone();
        let response = self.context.responders.expect(&id, &workflow);
        if let Err(error) = self.queue_as(id.clone(), new).await {
            self.context.responders.forget(&id);
            return Err(error);
        }
        let is_stopping = || self.context.core.stopping.is_cancelled();
        response.await.map_err(|_| match is_stopping() {
            true => {
                PlatformError::Unavailable("the node is stopping; the run goes on later".to_owned())
            }
            false => PlatformError::not_found("workflow", &workflow),
        })
    }

    async fn queue_as(&self, id: InvocationId, new: NewRun) -> Result<(), PlatformError> {
        let workflows = self.clone();
        let core = &self.context.core;
        core.to_the_end(async move {
            let (context, workflow) = (&workflows.context, new.workflow.clone());
            let invocation = context.invocation(id, new).await?;
            let open = |handle: &Handle| handle.open.lock().clone();
            let lease = context.residents.find(&workflow, open).flatten();
            let lease = lease.map(|lease| (lease, context.core.lease_term()));
            let leased = match context.enqueue(invocation.clone(), lease.clone()).await {
                // Some of the runs that seem to wait may be about to begin.
                Err(PlatformError::TooManyWaiting { .. }) => {
                    workflows.settled(&workflow).await;
                    context.enqueue(invocation.clone(), None).await?
                }
                queued => queued?,
            };
            let now_ms = context.core.env.now_ms();
            let command = match (lease, leased) {
                // A lease that has run out meanwhile may be another's by now.
                (Some((of_workflow, term)), Some(lease)) if term.expires_at_ms > now_ms => {
                    let run = Claimed::at_once(invocation, lease);
                    Command::Run(of_workflow, Box::new(run))
                }
                _ => Command::Claim,
            };
            workflows.send(&workflow, command);
            Ok(())
        })
        .await
    }

    /// Waits until the runs of a workflow that may begin have begun.
    async fn settled(&self, id: &WorkflowId) {
        let (settle, settled) = oneshot::channel();
        self.send(id, Command::Settle(settle));
        // However long their keys take: then they wait.
        let _ = tokio::time::timeout(SETTLED_WITHIN, settled).await;
    }

    /// Answers a wait.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn resolve(
        &self,
        wait: WaitId,
        resolution: &Resolution,
    ) -> Result<WaitResolved, PlatformError> {
        self.answer(wait, resolution, None).await
    }

    async fn answer(
        &self,
        wait: WaitId,
        resolution: &Resolution,
        applied: Option<oneshot::Sender<()>>,
    ) -> Result<WaitResolved, PlatformError> {
        let run_id = wait.run_id.clone();
        let resolution =
            to_raw_value(resolution).map_err(|error| PlatformError::Internal(error.to_string()))?;
        let core = &self.context.core;
        let answer = WaitResolution { wait, resolution };
        let resolved = core.store.resolve_wait(answer, core.env.now_ms()).await?;
        if let WaitResolved::Now(RunnableId::Workflow(id)) = &resolved {
            self.send(id, Command::Resolved(run_id, applied));
        }
        Ok(resolved)
    }

    /// Cancels a run, whether it is in memory, waits, or has not begun. Harmless for one that has ended.
    ///
    /// # Errors
    /// The store cannot be written.
    pub(crate) async fn cancel(&self, run: &InvocationId) -> Result<(), PlatformError> {
        let wait = WaitId {
            run_id: run.clone(),
            path: Path::root().to_string(),
            generation: 0,
        };
        let (applied, done) = oneshot::channel();
        self.answer(wait, &Resolution::Cancel, Some(applied))
            .await?;
        // Told once the run has ended or is dropped. One that another node has, or that finds no room yet, ends later.
        let _ = tokio::time::timeout(CANCELLED_WITHIN, done).await;
        Ok(())
    }

    /// Lets runs that have not begun follow a new deployment.
    pub(crate) fn deployed(&self, id: &WorkflowId) {
        if let Some(handle) = self.context.residents.find(id, Handle::clone) {
            handle.send(Command::Reload);
        }
    }

    /// Ends the workflow's actor, if it has one. Its runs stay in the store.
    pub(crate) async fn close(&self, id: &WorkflowId) {
        let handle = self.context.residents.find(id, Handle::clone);
        if let Some(handle) = handle {
            let (closed, gone) = oneshot::channel();
            handle.send(Command::Close(closed));
            let _ = gone.await;
        }
    }

    /// Lets those who wait for runs of a workflow that is gone know.
    pub(crate) fn deleted(&self, id: &WorkflowId) {
        self.context.responders.forget_all(id);
    }
}
