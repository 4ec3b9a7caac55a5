//! The newest events of everything that a caller may see, as they are appended.

use std::sync::Arc;

use futures::{Stream, StreamExt as _, stream};
use headwater_model::{
    channel::ChannelClass,
    event::Event,
    id::{EmitterId, WorkspaceId},
};
use headwater_store::{Appended, LogPosition};

use crate::{caller::Caller, error::PlatformError, feeds::Appendings, platform::Platform};

/// An event with the name of its emitter.
#[derive(Debug, Clone)]
pub struct NewEvent {
    /// Its source or workflow.
    pub emitter: EmitterId,
    /// The name of that.
    pub name: String,
    /// The event.
    pub event: Event,
}

/// Events that were appended one after the other; perhaps none of them is for the reader.
#[derive(Debug, Clone)]
pub struct News {
    /// The events, oldest first.
    pub events: Vec<NewEvent>,
    /// The position from which to go on.
    pub up_to: LogPosition,
}

/// Somebody who reads news.
struct Reader {
    platform: Arc<Platform>,
    caller: Caller,
    workspace_id: Option<WorkspaceId>,
}

impl Platform {
    /// The position behind everything that there is. News from there on miss nothing of what comes after a reading that
    /// begins now.
    pub async fn news_begin(&self) -> Result<LogPosition, PlatformError> {
        Ok(self.core.store.log_end().await?)
    }

    /// The events on ordinary channels that were appended after a position: those of a workspace, or of all that the caller
    /// deployed. Each comes once, in the order of appending. The stream ends when the node stops or the caller's key ends.
    ///
    /// # Errors
    /// `Forbidden` when the caller is not a member of the workspace.
    pub async fn news(
        self: &Arc<Self>,
        caller: &Caller,
        workspace_id: Option<WorkspaceId>,
        after: LogPosition,
    ) -> Result<impl Stream<Item = News> + Send + use<>, PlatformError> {
        if let Some(id) = &workspace_id {
            self.check_member(caller, id).await?;
        }
        let appendings = self.feeds.appendings(after).await?;
        let reader = Reader {
            platform: Arc::clone(self),
            caller: caller.clone(),
            workspace_id,
        };
        let reading = (reader, appendings.boxed());
        let news = stream::unfold(reading, |(reader, mut appendings)| async move {
            let read = appendings.next().await?;
            match reader.news(read).await {
                Ok(news) => Some((news, (reader, appendings))),
                Err(error) => {
                    tracing::debug!(%error, "news end");
                    None
                }
            }
        });
        Ok(news)
    }
}

impl Reader {
    /// Those events that the caller may see now.
    async fn news(&self, read: Appendings) -> Result<News, PlatformError> {
        let core = &self.platform.core;
        let up_to = read.up_to;
        let is_ordinary = |one: &Appended| one.event.channel.class() == ChannelClass::Ordinary;
        let appended: Vec<_> = read.events.into_iter().filter(is_ordinary).collect();
        let identity = core.store.identity(&self.caller.identity.key.hash).await?;
        let caller = Caller {
            identity: identity.ok_or(PlatformError::Unauthenticated)?,
            ..self.caller.clone()
        };
        let emitters = appended.iter().map(|one| one.emitter.clone());
        let names = self
            .platform
            .names_of(&caller, emitters, |owner| match &self.workspace_id {
                Some(_) => owner.workspace_id == self.workspace_id,
                None => owner.user_id == *caller.user_id(),
            })
            .await?;
        let events = appended.into_iter().filter_map(|one| {
            let name = names.of_emitter(&one.emitter)?.to_owned();
            Some(NewEvent {
                emitter: one.emitter,
                name,
                event: one.event,
            })
        });
        let events = events.collect();
        Ok(News { events, up_to })
    }
}
