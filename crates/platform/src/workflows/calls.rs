//! Runs that call one another: how deep, and how a run is queued.

use std::sync::Arc;

use headwater_model::{
    id::{InvocationId, WorkflowId},
    time::EpochMs,
};
use headwater_store::{Lease, LeaseTerm, NewInvocation, Owner, RunnableLease, Trigger};
use serde_json::value::{RawValue, to_raw_value};

use super::{context::WorkflowContext, head::Head};
use crate::{error::PlatformError, origin};

/// Runs that call one another at most.
pub(super) const HOPS_MAX: u32 = 16;
/// The answer to a call in a circle.
pub(super) fn too_many_calls() -> PlatformError {
    PlatformError::Conflict(format!(
        "{HOPS_MAX} runs have called one another already; end the circle"
    ))
}

/// A run to queue.
pub(crate) struct NewRun {
    pub(crate) workflow: WorkflowId,
    /// The workflow's owner, whose variables are masked in the event.
    pub(crate) owner: Owner,
    pub(crate) trigger: Trigger,
    /// The workflow's trigger.
    pub(crate) via: Option<String>,
    pub(crate) event: Box<RawValue>,
    /// How it is to begin, if not with the first step of the current deployment.
    pub(crate) head: Option<Head>,
    /// Runs and sources that its event has passed through.
    pub(crate) hops: u32,
}

impl WorkflowContext {
    /// The invocation of a run to queue. Its event has marks in place of variables: steps see the values.
    ///
    /// # Errors
    /// The variables cannot be read.
    pub(super) async fn invocation(
        &self,
        id: InvocationId,
        new: NewRun,
    ) -> Result<NewInvocation, PlatformError> {
        let event = new.event.into();
        let event = match new.trigger {
            // The platform kept it.
            Trigger::Replay => self.kept_event(&new.owner, event).await?,
            Trigger::Timer
            | Trigger::Http
            | Trigger::Manual
            | Trigger::Event
            | Trigger::Email
            | Trigger::Call => self.masked_event(&new.owner, event).await?,
        };
        Ok(NewInvocation {
            id,
            runnable: new.workflow.into(),
            trigger: new.trigger,
            via: new.via,
            event,
            hops: new.hops,
            now_ms: self.core.env.now_ms(),
            due_at_ms: EpochMs(0),
            origin: origin::origin(),
            state: new.head.as_ref().and_then(|head| to_raw_value(head).ok()),
        })
    }

    /// An event, as code or somebody outside gives it, without the values of its owner's variables, and without marks.
    ///
    /// # Errors
    /// The variables cannot be read.
    pub(crate) async fn masked_event(
        &self,
        owner: &Owner,
        event: Arc<RawValue>,
    ) -> Result<Arc<RawValue>, PlatformError> {
        // Boxed: every request waits for it somewhere in its own future.
        let masks = Box::pin(self.variables.masks_of(owner)).await?;
        Box::pin(masks.hidden_value(&self.core.aside, event)).await
    }

    /// An event that was masked when it was queued, without the values that variables have now.
    ///
    /// # Errors
    /// The variables cannot be read.
    pub(crate) async fn kept_event(
        &self,
        owner: &Owner,
        event: Arc<RawValue>,
    ) -> Result<Arc<RawValue>, PlatformError> {
        let masks = Box::pin(self.variables.masks_of(owner)).await?;
        Box::pin(masks.marked_value(&self.core.aside, event)).await
    }

    /// Queues a run durably, leased at once if this is the lease of its workflow. Whoever runs the workflow is to be told.
    ///
    /// # Errors
    /// `Conflict` when the workflow is gone or takes no triggers; `TooManyWaiting` when its queue is full.
    pub(super) async fn enqueue(
        &self,
        invocation: NewInvocation,
        lease: Option<(RunnableLease, LeaseTerm)>,
    ) -> Result<Option<Lease>, PlatformError> {
        Ok(self.core.store.enqueue(invocation, lease).await?)
    }
}
