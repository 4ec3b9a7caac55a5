//! `/events/selected`: the events whose boxes are checked are sent again to those who listen now.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{event::EventRef, event_search::EventPlace};
use headwater_platform::{EventsReplayed, PlatformError, ReplayEvents, ReplayListener};
use maud::{Markup, html};

use crate::{
    address::{self, Address as _},
    fields::Fields,
    page::selected::{Asked, Back, Selected, no_act},
    part::{
        event_row::summary,
        payload,
        text::{self, counted, grouped},
    },
    problem::Problem,
    reply::{FormReply, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Events that are shown before the act.
const SHOWN: usize = 20;

/// The events that the address names.
fn wanted(visitor: &Visitor) -> Result<Vec<EventRef>, Problem> {
    let Selected { act, ids } = Selected::<EventPlace>::of(visitor)?;
    if act != "replay" {
        return Err(no_act(&act));
    }
    let events = ids
        .into_iter()
        .map(|EventPlace { id, emitter }| EventRef { emitter, id });
    Ok(events.collect())
}

/// Asks, with the number of events and those who get them.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let events = wanted(&visitor)?;
    let dry = ReplayEvents {
        events: events.clone(),
        is_dry: true,
    };
    let replayed = ui.platform.replay_events(visitor.caller(), dry).await?;
    let mut rows = Vec::new();
    for event in events.iter().take(SHOWN) {
        rows.push(row(&ui, &visitor, event).await?);
    }
    if events.len() > SHOWN {
        let others = (events.len() - SHOWN) as u64;
        rows.push(html! { "and " (counted(others, "other", "others")) });
    }
    let count = counted(replayed.count, "event", "events");
    let first = &events[0];
    let asked = Asked {
        section: Section::Events,
        title: format!("Send {count} again?"),
        button: "Send again",
        consequences: consequences(&replayed),
        rows,
        list: "/events",
        command: format!("headwater replay {} {}", first.emitter, first.id),
    };
    Ok(asked.page(&visitor))
}

/// Sends them.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Back>,
) -> FormReply {
    let request = ReplayEvents {
        events: wanted(&visitor)?,
        is_dry: false,
    };
    let replayed = ui.platform.replay_events(visitor.caller(), request).await?;
    let back = match address::own_path(&given.back) {
        "/" => "/events",
        path => path,
    };
    Ok(see_other_saying(&visitor, back, &told(&replayed)))
}

async fn row(ui: &Ui, visitor: &Visitor, of: &EventRef) -> Result<Markup, PlatformError> {
    let shown = match ui.platform.event(visitor.caller(), of).await {
        Ok(logged) => html! { (payload::inline(text::line(&summary(&logged.event)))) },
        Err(PlatformError::EventGone { .. } | PlatformError::NotFound { .. }) => {
            html! { (of.id) " " span.note { "not kept any more" } }
        }
        Err(error) => return Err(error),
    };
    Ok(html! { a href=(address::of_event(&of.emitter, &of.id)) { (shown) } })
}

fn consequences(replayed: &EventsReplayed) -> Markup {
    let nobody = replayed.listeners.is_empty() && replayed.others == 0;
    html! {
        @if replayed.gone > 0 { p { (counted(replayed.gone, "event is", "events are")) " not kept any more." } }
        @if nobody { p { "Nobody listens now: nothing would be sent." } }
        @else {
            p { "They go to those who listen now, oldest first. Sources and workflows run once more for each; webhooks get the same " code { "webhook-id" } " as before, so that a receiver can tell those that it had." }
            ul {
                @for listener in &replayed.listeners { li { (receiver(listener)) } }
                @if replayed.others > 0 { li { (counted(replayed.others, "listener", "listeners")) " of other people" } }
            }
        }
        @if replayed.has_more { p { "An event has more than 1,000 subscriptions; those behind them get nothing." } }
        h2 { "Events" }
    }
}

fn receiver(listener: &ReplayListener) -> Markup {
    html! {
        a href=(listener.id.address()) { (text::line(&listener.name)) }
        ": " (counted(listener.reached, "event", "events"))
        @if listener.left_out > 0 { ", " (grouped(listener.left_out)) " not: it is paused or has no room" }
    }
}

fn told(replayed: &EventsReplayed) -> String {
    let listeners = replayed.listeners.iter().filter(|one| one.reached > 0);
    let listeners = listeners.count() as u64 + replayed.others;
    let mut told = format!(
        "{} sent again to {}",
        counted(replayed.count, "event is", "events are"),
        counted(listeners, "listener", "listeners")
    );
    if replayed.gone > 0 {
        told += &format!(
            "; {} not kept any more",
            counted(replayed.gone, "was", "were")
        );
    }
    let left_out: u64 = replayed.listeners.iter().map(|one| one.left_out).sum();
    if left_out > 0 {
        told += &format!("; {} left out", counted(left_out, "was", "were"));
    }
    told
}
