//! Starting and cancelling runs.

use headwater_model::id::InvocationId;
use headwater_store::{Trigger, Workflow};
use serde_json::value::RawValue;

use super::runs::FoundRun;
use crate::{
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

    /// Cancels a run that has not ended: steps at work come to their end, and nothing further begins. Harmless for one that
    /// has ended.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such run.
    pub async fn cancel_run(
        &self,
        caller: &Caller,
        id: &InvocationId,
    ) -> Result<(), PlatformError> {
        match self.found_run(caller, id).await? {
            FoundRun::Open(..) => self.workflows.cancel(id).await,
            FoundRun::Ended(..) => Ok(()),
        }
    }
}
