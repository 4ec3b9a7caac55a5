//! Views: searches of events that people named, of a user or of a workspace.

use headwater_model::{
    event_search::EventMatcher,
    id::WorkspaceId,
    moment::{self, since, until},
    time::EpochMs,
};
use headwater_store::{EventTimes, EventView};

use super::event_search::EventsSearch;
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

/// Characters of a name, bytes of a channel's and of a time, and views of an owner.
const NAME_CHARS: usize = 100;
const CHANNEL_BYTES: usize = 1_024;
const TIME_BYTES: usize = 64;
const VIEWS_MAX: u32 = 200;

impl Platform {
    /// The views of the caller, or of a workspace, by name.
    ///
    /// # Errors
    /// `Forbidden` in a workspace of others.
    pub async fn event_views(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
    ) -> Result<Vec<EventView>, PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        Ok(self.core.store.event_views(&owner).await?)
    }

    /// Names a search, of which the words, paths, emitter and channel are kept, and the times as they are written. A view
    /// of that name is replaced.
    ///
    /// # Errors
    /// `Invalid` for a name that is none and for what cannot be searched for, `Conflict` when there are too many.
    pub async fn set_event_view(
        &self,
        caller: &Caller,
        name: &str,
        search: EventsSearch,
        times: EventTimes,
    ) -> Result<EventView, PlatformError> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > NAME_CHARS {
            let reason = format!("must have 1 to {NAME_CHARS} characters");
            return Err(PlatformError::invalid("name", reason));
        }
        if search
            .channel
            .as_ref()
            .is_some_and(|channel| channel.len() > CHANNEL_BYTES)
        {
            let reason = format!("has more than {CHANNEL_BYTES} bytes");
            return Err(PlatformError::invalid("channel", reason));
        }
        EventMatcher::new(&search.words, &search.paths).map_err(PlatformError::Invalid)?;
        let times = readable(times, self.core.env.now_ms())?;
        let owner = self.owner(caller, search.workspace_id).await?;
        let view = EventView {
            name: name.to_owned(),
            words: search.words,
            paths: search.paths,
            emitter: search.emitter,
            channel: search.channel,
            times,
            updated_at: self.core.env.now_at(),
        };
        let store = &self.core.store;
        let is_set = store.set_event_view(&owner, view.clone(), VIEWS_MAX);
        if !is_set.await? {
            return Err(PlatformError::Conflict(format!(
                "there are {VIEWS_MAX} views already; delete one first"
            )));
        }
        let act = Act::new(AuditAction::EventViewSet, "event_view", name);
        self.record(caller, act.of(&owner)).await;
        Ok(view)
    }

    /// Deletes a view.
    ///
    /// # Errors
    /// `NotFound` when there is none of that name.
    pub async fn delete_event_view(
        &self,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        name: &str,
    ) -> Result<(), PlatformError> {
        let owner = self.owner(caller, workspace_id).await?;
        match self.core.store.delete_event_view(&owner, name).await? {
            true => {
                let act = Act::new(AuditAction::EventViewDelete, "event_view", name);
                self.record(caller, act.of(&owner)).await;
                Ok(())
            }
            false => Err(PlatformError::not_found("view", name)),
        }
    }
}

/// The times without space around them.
///
/// # Errors
/// `Invalid` names the one that cannot be read, and the latest if it is before the earliest.
fn readable(times: EventTimes, now_ms: EpochMs) -> Result<EventTimes, PlatformError> {
    let read = |name: &str, text: Option<String>, means: fn(&str, EpochMs) -> Option<EpochMs>| {
        let text = text.map(|text| text.trim().to_owned());
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        match means(&text, now_ms).filter(|_| text.len() <= TIME_BYTES) {
            Some(moment) => Ok(Some((text, moment))),
            None => {
                let reason = format!("`{name}` is not {}", moment::EXPECTED);
                Err(PlatformError::invalid(name, reason))
            }
        }
    };
    let since = read("since", times.since, since)?;
    let until = read("until", times.until, until)?;
    if let (Some((_, since)), Some((_, until))) = (&since, &until)
        && until < since
    {
        let reason = "`until` must not be before `since`";
        return Err(PlatformError::invalid("until", reason));
    }
    Ok(EventTimes {
        since: since.map(|(text, _)| text),
        until: until.map(|(text, _)| text),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: EpochMs = EpochMs(1_800_000_000_000);

    fn times(since: &str, until: &str) -> EventTimes {
        let [since, until] = [since, until].map(|text| Some(text.to_owned()));
        EventTimes { since, until }
    }

    #[test]
    fn times_are_kept_as_they_are_written() {
        let kept = readable(times(" 24h ", " "), NOW).unwrap();
        assert_eq!((kept.since.as_deref(), kept.until), (Some("24h"), None));
        let day = times("2026-01-31", "2026-01-31");
        assert_eq!(readable(day.clone(), NOW).unwrap(), day);
    }

    #[test]
    fn times_that_cannot_be_read_are_named() {
        for (since, until, told) in [
            ("yesterday", "", "`since` is not a time"),
            ("", "soon", "`until` is not a time"),
            (&*format!("{}1h", "0".repeat(TIME_BYTES)), "", "`since`"),
            ("1h", "2h", "must not be before `since`"),
        ] {
            let error = readable(times(since, until), NOW).unwrap_err();
            assert!(error.to_string().contains(told), "{error}");
        }
    }
}
