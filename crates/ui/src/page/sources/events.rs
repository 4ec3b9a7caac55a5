//! `/sources/{id}/events`: what it emitted, newest first, as it comes.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    channel::{Channel, ChannelClass},
    event::{Event, EventRef},
    id::EmitterId,
};
use headwater_platform::{EventsQuery, PlatformError, default_channels};
use maud::{Markup, html};

use super::{head::Shown, no_events, subscriptions::has_listeners};
use crate::{
    part::{
        event_list,
        event_row::{self, About},
        icon::{Icon, icon},
        pager::{Ends, pager},
        text,
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
    let about = about(&ui, &visitor, &emitter, &events.items).await?;
    let named = events.items.iter().map(|event| event.channel.name());
    let mut known = CHANNELS.to_vec();
    for name in named.filter(|name| !name.is_empty()) {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    let body = html! {
        (shown.head(&ui, &visitor, "events"))
        (event_list::channels(&visitor, &known))
        (search(&emitter, channel.as_deref()))
        @if !has_listeners(&ui, &visitor, &shown).await? {
            p.note {
                "Nobody is subscribed to its events yet. "
                a.button href=(shown.new_webhook()) { (icon(Icon::Webhook)) "Send its events to a URL" }
            }
        }
        (event_list::live_bar())
        (event_row::table(&emitter, &events.items, &about, &visitor))
        div data-part="reason" {
            @if events.items.is_empty() { (no_events::reason(&ui, &visitor, &shown, channel.as_deref()).await?) }
        }
        @if !events.items.is_empty() {
            (pager(&visitor, &Ends::of(&events, |event| event.id)))
            p.note { "Of each source, the newest " (text::grouped(ui.platform.config().retained_events.into())) " events are kept, and as many on " code { (Channel::ERRORS) } " and on " code { (Channel::LOGS) } "." }
        }
    };
    let page = Page::of(Section::Sources, format!("{} · events", shown.name()), body)
        .command(format!("headwater events {}", shown.quoted()));
    let page = page.changing(&Topic::Source(id), &visitor);
    Ok(event_list::followed(page, &visitor, &emitter, &events))
}

/// The search of all events, for those of the source alone.
fn search(emitter: &EmitterId, channel: Option<&str>) -> Markup {
    html! {
        form.filters action="/events" {
            input type="hidden" name="emitter" value=(emitter);
            @if let Some(channel) = channel { input type="hidden" name="channel" value=(channel); }
            div { label for="words" { "Words " } input #words type="search" name="q" autocomplete="off"; }
            div { label for="since" { "From " } input #since name="since" placeholder="24h, 2026-01-31" autocomplete="off"; }
            div { label for="until" { "Until " } input #until name="until" placeholder="1h, 2026-01-31" autocomplete="off"; }
            button { (icon(Icon::Search)) "Search" }
        }
    }
}

/// The deliveries of listed events, and the release of those that wait for it.
async fn about(
    ui: &Ui,
    visitor: &Visitor,
    emitter: &EmitterId,
    events: &[Event],
) -> Result<About, PlatformError> {
    let (platform, caller) = (&ui.platform, visitor.caller());
    let ids: Vec<_> = events.iter().map(|event| event.id).collect();
    let deliveries = platform.deliveries_of_events(caller, emitter, &ids);
    let mut about = About {
        deliveries: deliveries.await?,
        ..About::default()
    };
    for event in events {
        let of = EventRef {
            emitter: emitter.clone(),
            id: event.id,
        };
        let released = match event.channel.class() == ChannelClass::Scheduled {
            false => None,
            true => match platform.event(caller, &of).await {
                Ok(logged) => logged.deliver_at_ms,
                // Released meanwhile.
                Err(PlatformError::EventGone { .. }) => None,
                Err(error) => return Err(error),
            },
        };
        about.released_at_ms.push(released);
    }
    Ok(about)
}
