//! The events that the steps of a run emitted, whether the run has ended or not.

use headwater_model::{channel::ChannelClass, dedupe::Dropped, event::Event, origin::Origin};
use headwater_store::{EndedRun, OpenRun, RunOutcome, RunRecord, RunVersion, Workflow};

use super::runs::FoundRun;
use crate::{error::PlatformError, platform::Platform};

/// Events of a run that are shown at most.
const EVENTS_MAX: u32 = 500;

impl Platform {
    /// The events of a run's steps that are still kept, oldest first, and whether there are more than these.
    pub(super) async fn emitted(
        &self,
        run: &FoundRun,
    ) -> Result<(Vec<Event>, bool), PlatformError> {
        let store = &self.core.store;
        let found = match run {
            FoundRun::Ended(run, _) => store.run_events(run, EVENTS_MAX + 1).await?,
            FoundRun::Open(run, workflow) => {
                let so_far = as_if_ended(run, workflow);
                store.run_events(&so_far, EVENTS_MAX + 1).await?
            }
        };
        let has_more = found.len() > EVENTS_MAX as usize;
        let mut events = found;
        events.truncate(EVENTS_MAX as usize);
        // That of its failure is no step's.
        events.retain(|event| event.channel.class() == ChannelClass::Ordinary);
        Ok((events, has_more))
    }
}

/// The record that a run would have that ended now: its events are looked for up to the newest.
fn as_if_ended(run: &OpenRun, workflow: &Workflow) -> RunRecord {
    RunRecord {
        id: run.id.clone(),
        runnable: run.runnable.clone(),
        caused_by: None,
        ended: EndedRun {
            version: RunVersion::Deployment(workflow.deployment_id.clone()),
            trigger: run.trigger.into(),
            queued_at_ms: run.queued_at_ms,
            started_at_ms: run.queued_at_ms,
            ended_at_ms: run.queued_at_ms,
            outcome: RunOutcome::Returned,
            error: None,
            emitted: 0,
            dropped: Dropped::default(),
            has_scheduled: true,
            origin: Origin::default(),
        },
        last_event: None,
    }
}
