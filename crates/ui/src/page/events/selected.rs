//! `/events/selected`: the events whose boxes are checked are sent again to those who listen now.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{event::EventRef, event_search::EventPlace, id::EmitterId};
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
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
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
        only: None,
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
    let first = &events[0];
    let command = format!("headwater replay {} {}", first.emitter, first.id);
    if replayed.count == 0 {
        return Ok(nobody(&visitor, &replayed, &rows, first).command(command + " --dry-run"));
    }
    let count = counted(replayed.count, "event", "events");
    let asked = Asked {
        section: Section::Events,
        title: format!("Send {count} again?"),
        button: "Send again",
        busy: "Sending again…",
        consequences: html! { (consequences(&replayed)) h2 { "Events" } },
        rows,
        list: "/events",
        command,
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
        only: None,
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

/// The page about events that nobody would get, which has nothing to send.
fn nobody(visitor: &Visitor, replayed: &EventsReplayed, rows: &[Markup], first: &EventRef) -> Page {
    let back = visitor.came_from.as_deref().unwrap_or("/events");
    let body = html! {
        section.confirm {
            h1 { "Nobody would get it" }
            @if replayed.unheard > 0 && replayed.listeners.is_empty() {
                p { "Events are sent again to those who listen now, and no webhook, source or workflow listens to " (if replayed.unheard == 1 { "this one" } else { "these" }) "." }
            }
            (listeners(replayed))
            (left_out(replayed))
            ul.rows { @for row in rows { li { (row) } } }
            div.actions {
                @if let EmitterId::Source(id) = &first.emitter {
                    a.button.primary href={ (id.address()) "/subscriptions" } { "Add a listener" }
                }
                a.button.quiet href=(back) { "Go back" }
            }
        }
    };
    Page::of(Section::Events, "Nobody would get it", body)
}

pub(super) fn consequences(replayed: &EventsReplayed) -> Markup {
    html! {
        p { "They go to those who listen now, oldest first. Sources and workflows run once more for each; webhooks get the same " code { "webhook-id" } " as before, so that a receiver can tell those that it had." }
        (listeners(replayed))
        @if replayed.unheard > 0 { p { "Nobody would get " (counted(replayed.unheard, "other event", "other events")) "." } }
        (left_out(replayed))
    }
}

pub(super) fn listeners(replayed: &EventsReplayed) -> Markup {
    html! {
        ul {
            @for listener in &replayed.listeners { li { (receiver(listener)) } }
            @if replayed.others > 0 { li { (counted(replayed.others, "listener", "listeners")) " of other people" } }
        }
    }
}

/// Events and listeners that are not reached for other reasons than that nobody listens.
pub(super) fn left_out(replayed: &EventsReplayed) -> Markup {
    html! {
        @if replayed.gone > 0 { p { (counted(replayed.gone, "event is", "events are")) " not kept any more." } }
        @if replayed.has_more { p { "An event has more than 1,000 subscriptions; those behind them get nothing." } }
    }
}

fn receiver(listener: &ReplayListener) -> Markup {
    html! {
        a href=(listener.id.address()) { (text::line(&listener.name)) }
        ": " (counted(listener.reached, "event", "events"))
        @if listener.left_out > 0 { ", " (grouped(listener.left_out)) " not: it is paused or has no room" }
    }
}

/// The extent of a replay in words.
pub(super) fn told(replayed: &EventsReplayed) -> String {
    let listeners = replayed.listeners.iter().filter(|one| one.reached > 0);
    let listeners = listeners.count() as u64 + replayed.others;
    let mut told = format!(
        "{} sent again to {}",
        counted(replayed.count, "event is", "events are"),
        counted(listeners, "listener", "listeners")
    );
    if replayed.unheard > 0 {
        told += &format!(
            "; nobody gets {}",
            counted(replayed.unheard, "other one", "other ones")
        );
    }
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
    if let Some(reason) = &replayed.reason {
        let untried = counted(replayed.untried, "was", "were");
        told += &format!("; {untried} not sent: {reason}");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_that_were_not_sent_are_told_with_the_reason() {
        let replayed = EventsReplayed {
            count: 1,
            others: 1,
            untried: 2,
            reason: Some("it broke".to_owned()),
            ..EventsReplayed::default()
        };
        let expected = "1 event is sent again to 1 listener; 2 were not sent: it broke";
        assert_eq!(told(&replayed), expected);
    }
}
