//! `/sources/{id}/events`: what it emitted, newest first, as it comes.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{channel::Channel, id::EmitterId};
use headwater_platform::{EventsQuery, default_channels};
use maud::html;

use super::{head::Shown, no_events, subscriptions::has_listeners};
use crate::{
    part::{
        event_list, event_row,
        icon::{Icon, icon},
        pager::{Ends, pager},
    },
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// Channels that every source has.
const CHANNELS: [&str; 3] = [Channel::ERRORS, Channel::LOGS, Channel::SCHEDULED];

/// Lists the events of a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let channel = visitor.parameter("channel");
    let query = EventsQuery {
        channels: default_channels(channel.as_deref()),
        page: visitor.page_request(),
    };
    let events = ui
        .platform
        .source_events(visitor.caller(), &id, &query)
        .await?;
    let emitter = EmitterId::Source(id.clone());
    let body = html! {
        (shown.head(&ui, &visitor, "events"))
        (event_list::channels(&visitor, &CHANNELS))
        @if !has_listeners(&ui, &visitor, &shown).await? {
            p.note {
                "Nobody is subscribed to its events yet. "
                a.button href={ "/webhooks/new?source=" (id) } { (icon(Icon::Webhook)) "Send its events to a URL" }
            }
        }
        (event_list::live_bar())
        (event_row::table(&emitter, &events.items, &visitor))
        @if events.items.is_empty() {
            (no_events::reason(&ui, &visitor, &shown, channel.as_deref()).await?)
        } @else {
            (pager(&visitor, &Ends::of(&events, |event| event.id)))
        }
    };
    let page = Page::of(Section::Sources, format!("{} · events", shown.name()), body)
        .command(format!("headwater events {}", shown.quoted()));
    let page = page.changing(&Topic::Source(id), &visitor);
    Ok(event_list::followed(page, &visitor, &emitter, &events))
}
