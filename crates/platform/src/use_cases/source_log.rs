//! The log of a source: the lines that are committed, and those that runs under way have logged since.

use headwater_model::{
    channel::Channel,
    event::Event,
    id::{EventId, InvocationId, SourceId},
    page::{Page, PageRequest, Position},
};

use super::events::{EventsQuery, default_channels};
use crate::{
    caller::Caller,
    error::PlatformError,
    log_line::{LogLine, OpenLog},
    platform::Platform,
};

/// A page of a source's log.
#[derive(Debug)]
pub struct SourceLog {
    /// The events on `$logs`, newest first.
    pub lines: Page<Event>,
    /// On the first page, the lines that are not events yet, of runs in the order in which they were queued.
    pub open: Vec<OpenLog>,
}

impl Platform {
    /// A page of a source's log. A line that is committed while it is read is in it once; those of a run that has ended and
    /// is not committed yet are missing until it is.
    ///
    /// # Errors
    /// `NotFound` when the caller can see no such source.
    pub async fn source_log(
        &self,
        caller: &Caller,
        id: &SourceId,
        page: PageRequest<EventId>,
    ) -> Result<SourceLog, PlatformError> {
        let is_first = matches!(page.position, Position::First);
        // Before the events: what is committed in between is in both, and taken out below, rather than in neither.
        let mut open = match is_first {
            true => self.open_source_log(caller, id).await?,
            false => Vec::new(),
        };
        let query = EventsQuery {
            channels: default_channels(Some(Channel::LOGS)),
            page,
        };
        let lines = self.source_events(caller, id, &query).await?;
        for log in &mut open {
            log.leave_out(&committed(&lines.items, &log.run_id));
        }
        open.retain(|log| !log.lines.is_empty());
        Ok(SourceLog { lines, open })
    }

    /// The lines that runs of a source that are under way have logged since their last commits. The log has them when they
    /// are committed; between the end of a run and its commit they are in neither.
    ///
    /// # Errors
    /// As [`Platform::source_log`].
    pub async fn open_source_log(
        &self,
        caller: &Caller,
        id: &SourceId,
    ) -> Result<Vec<OpenLog>, PlatformError> {
        self.visible_source(caller, id).await?;
        Ok(self.runners.logged(id).await)
    }
}

/// The lines of a run among events, which begin with the newest, oldest first.
fn committed(events: &[Event], run: &InvocationId) -> Vec<LogLine> {
    let of_run = events
        .iter()
        .rev()
        .filter(|event| event.run_id.as_ref() == Some(run));
    let lines = of_run.filter_map(|event| serde_json::from_str(event.event.get()).ok());
    lines.collect()
}
