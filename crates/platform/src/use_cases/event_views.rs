//! Views: searches of events that people named, of a user or of a workspace.

use headwater_model::{event_search::EventMatcher, id::WorkspaceId};
use headwater_store::EventView;

use super::event_search::EventsSearch;
use crate::{
    audit::{Act, AuditAction},
    caller::Caller,
    error::PlatformError,
    platform::Platform,
};

/// Characters of a name, bytes of a channel's, and views of an owner.
const NAME_CHARS: usize = 100;
const CHANNEL_BYTES: usize = 1_024;
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

    /// Names a search, of which the words, paths, emitter and channel are kept. A view of that name is replaced.
    ///
    /// # Errors
    /// `Invalid` for a name that is none and for what cannot be searched for, `Conflict` when there are too many.
    pub async fn set_event_view(
        &self,
        caller: &Caller,
        name: &str,
        search: EventsSearch,
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
        let owner = self.owner(caller, search.workspace_id).await?;
        let view = EventView {
            name: name.to_owned(),
            words: search.words,
            paths: search.paths,
            emitter: search.emitter,
            channel: search.channel,
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
