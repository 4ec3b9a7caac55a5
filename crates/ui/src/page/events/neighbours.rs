//! The events before and behind one, on its channels.

use headwater_model::{
    channel::{Channel, ChannelClass},
    event::{Event, EventRef},
    id::{EmitterId, EventId},
    page::{Page as Listed, PageRequest, Position},
};
use headwater_platform::{Caller, EventsQuery, PlatformError, default_channels};
use maud::{Markup, html};

use crate::{
    address,
    part::icon::{Icon, icon},
    state::Ui,
};

/// The newer and the older event.
pub(super) struct Neighbours {
    newer: Option<EventId>,
    pub(super) older: Option<EventId>,
}

impl Neighbours {
    /// The neighbours of an event on this channel: among those of its kind that components emit, or on `$errors` and the
    /// like alone.
    pub(super) async fn of(
        ui: &Ui,
        caller: &Caller,
        of: &EventRef,
        channel: &Channel,
    ) -> Result<Self, PlatformError> {
        let name = match channel.class() {
            ChannelClass::Ordinary => None,
            ChannelClass::Errors | ChannelClass::Logs | ChannelClass::Scheduled => {
                Some(channel.name())
            }
        };
        let one = async |position| {
            let query = EventsQuery {
                channels: default_channels(name),
                page: PageRequest { limit: 1, position },
            };
            let found = events(ui, caller, &of.emitter, &query).await?;
            Ok::<_, PlatformError>(found.items.first().map(|event| event.id))
        };
        Ok(Self {
            newer: one(Position::Before(of.id)).await?,
            older: one(Position::After(of.id)).await?,
        })
    }

    /// The links to them.
    pub(super) fn links(&self, emitter: &EmitterId) -> Markup {
        html! {
            nav.pager aria-label="Events" {
                @if let Some(id) = &self.newer {
                    a rel="prev" href=(address::of_event(emitter, id)) data-key="[" { (icon(Icon::Previous)) "Newer event" }
                }
                @if let Some(id) = &self.older {
                    a rel="next" href=(address::of_event(emitter, id)) data-key="]" { "Older event" (icon(Icon::Next)) }
                }
            }
        }
    }
}

/// A page of an emitter's events, newest first.
pub(super) async fn events(
    ui: &Ui,
    caller: &Caller,
    emitter: &EmitterId,
    query: &EventsQuery,
) -> Result<Listed<Event>, PlatformError> {
    match emitter {
        EmitterId::Source(id) => ui.platform.source_events(caller, id, query).await,
        EmitterId::Workflow(id) => ui.platform.workflow_events(caller, id, query).await,
    }
}
