//! Starting and cancelling runs.

use headwater_model::id::InvocationId;
use headwater_store::{Trigger, Workflow};
use serde_json::value::RawValue;

use super::runs::FoundRun;
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
    workflows::{Head, NewRun},
};

impl Platform {
    /// Queues a run that counts against its user's quota.
    pub(super) async fn start_run(
        &self,
        workflow: &Workflow,
        trigger: Trigger,
        event: Box<RawValue>,
        head: Option<Head>,
    ) -> Result<InvocationId, PlatformError> {
        let user_id = &workflow.owner.user_id;
        self.quotas.take_invocation(user_id).await?;
        let new = NewRun {
            workflow: workflow.id.clone(),
            owner: workflow.owner.clone(),
            trigger,
            via: None,
            event,
            head,
            hops: 0,
        };
        let queued = self.workflows.queue(new).await;
        queued.inspect_err(|_| self.quotas.give_invocation_back(user_id))
    }

    /// Cancels a run that has not ended. Of a workflow, steps at work come to their end, and nothing further begins; of a
    /// source, as [`Platform::cancel_source_run`] says. Harmless for one that has ended.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such run.
    pub async fn cancel_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<(), PlatformError> {
        if self.cancel_source_run(caller, id).await? {
            return Ok(());
        }
        let run = self.found_run(caller, id).await?;
        match run {
            FoundRun::Open(..) => self.workflows.cancel(id).await?,
            FoundRun::Ended(..) => return Ok(()),
        }
        let act = on_run(AuditAction::RunCancel, id, run.workflow());
        self.record(caller, act).await;
        Ok(())
    }
}

/// An act on a run of a workflow.
pub(super) fn on_run(action: AuditAction, id: &InvocationId, workflow: &Workflow) -> Act {
    let act = Act::new(action, "run", id).of(&workflow.owner);
    act.named(&workflow.name)
        .with("workflow_id", workflow.id.as_str())
}
