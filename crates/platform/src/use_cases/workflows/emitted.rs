//! The events that the steps of a run emitted, whether the run has ended or not.

use headwater_model::event::Event;
use headwater_store::{OpenRun, RunStretch};

use super::runs::FoundRun;
use crate::{error::PlatformError, platform::Platform, workflows::Head};

/// Events of a run that are shown at most.
const EVENTS_MAX: u32 = 500;

impl Platform {
    /// The events of a run's steps that are still kept, oldest first, and whether there are more than these. That of its
    /// failure, on `$errors`, is no step's.
    pub(super) async fn emitted(
        &self,
        run: &FoundRun,
    ) -> Result<(Vec<Event>, bool), PlatformError> {
        let stretch = match run {
            FoundRun::Ended(run, _) if run.ended.emitted > 0 => run.stretch(),
            FoundRun::Open(run, _) => stretch_so_far(run),
            FoundRun::Ended(..) => None,
        };
        let Some(stretch) = stretch else {
            return Ok((Vec::new(), false));
        };
        let store = &self.core.store;
        let mut events = store.ordinary_run_events(&stretch, EVENTS_MAX + 1).await?;
        let has_more = events.len() > EVENTS_MAX as usize;
        events.truncate(EVENTS_MAX as usize);
        Ok((events, has_more))
    }
}

/// The stretch of the log in which the events of a run are that has not ended, if it has emitted any.
fn stretch_so_far(run: &OpenRun) -> Option<RunStretch> {
    let head = Head::read(run.state.as_deref()).unwrap_or_default();
    (head.emitted > 0).then(|| RunStretch {
        runnable: run.runnable.clone(),
        run_id: run.id.clone(),
        since_ms: run.queued_at_ms,
        until: None,
    })
}
