//! `/sources/{id}/events/{event_id}/replay`, and the same of workflows: an event is sent again, to all who listen now or to
//! one of them.

use std::sync::Arc;

use axum::{
    extract::{Path, State},
    http::StatusCode,
    response::IntoResponse as _,
};
use headwater_model::{
    event::EventRef,
    id::{EmitterId, ListenerId},
};
use headwater_platform::{EventsReplayed, ReplayEvents};
use maud::{Markup, html};
use serde::Deserialize;

use super::{selected::told, show::reference};
use crate::{
    address::{self, Address as _},
    fields::Fields,
    part::{
        event_row::summary,
        icon::{Icon, icon},
        payload,
        text::{self, counted},
    },
    problem::Problem,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Default, Deserialize)]
pub(crate) struct Replay {
    /// The one listener; empty for all of them.
    #[serde(default)]
    to: String,
}

/// Asks to whom.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    page(&ui, &visitor, &of, html! {}).await
}

/// Sends it, and goes back to the event, which shows what came of it.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
    Fields(given): Fields<Replay>,
) -> FormReply {
    let of = reference(&emitter, &event)?;
    let only = match given.to.as_str() {
        "" => None,
        id => match id.parse::<ListenerId>() {
            Ok(id) => Some(id),
            Err(_) => {
                let wrong = html! {
                    p.wrong role="alert" #wrong { (icon(Icon::Warning)) "There is no listener " code { (text::line(id)) } ". Choose one of those below." }
                };
                let page = page(&ui, &visitor, &of, wrong).await?;
                let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
                return Ok(page.into_response());
            }
        },
    };
    let request = ReplayEvents {
        events: vec![of.clone()],
        only,
        is_dry: false,
    };
    let replayed = ui.platform.replay_events(visitor.caller(), request).await?;
    let event = address::of_event(&of.emitter, &of.id);
    Ok(see_other_saying(&visitor, &event, &told(&replayed)))
}

async fn page(ui: &Ui, visitor: &Visitor, of: &EventRef, above: Markup) -> Result<Page, Problem> {
    let logged = ui.platform.event(visitor.caller(), of).await?;
    let dry = ReplayEvents {
        events: vec![of.clone()],
        only: None,
        is_dry: true,
    };
    let replayed = ui.platform.replay_events(visitor.caller(), dry).await?;
    let event = address::of_event(&of.emitter, &of.id);
    let body = html! {
        p.crumbs { a href="/events" { "Events" } " / " a href=(event) { (payload::inline(text::line(&summary(&logged.event)))) } }
        h1 { "Send it again" }
        (above)
        @if replayed.count == 0 { (nobody(&replayed, of, &event)) } @else { (form(&replayed, &event)) }
    };
    let command = format!("headwater replay {} {} --to LISTENER", of.emitter, of.id);
    Ok(Page::of(
        Section::of_emitter(&of.emitter),
        "Send an event again",
        body,
    )
    .command(command))
}

fn form(replayed: &EventsReplayed, event: &str) -> Markup {
    let all = replayed.listeners.iter().filter(|one| one.reached > 0);
    let all = all.count() as u64 + replayed.others;
    html! {
        p { "It goes to those who listen now. Sources and workflows run once more for it; webhooks get the same " code { "webhook-id" } " as before, so that a receiver can tell whether it had it." }
        form method="post" action={ (event) "/replay" } {
            fieldset.field {
                legend { "To" }
                div { label.choice { input type="radio" name="to" value="" checked; @if all == 1 { " the one listener" } @else { " all " (counted(all, "listener", "listeners")) } } }
                @for one in &replayed.listeners {
                    div { label.choice {
                        input type="radio" name="to" value=(one.id) disabled[one.reached == 0];
                        " " (kind(&one.id)) " " a href=(one.id.address()) { (text::line(&one.name)) }
                        @if one.reached == 0 { " " span.note { "is paused or has no room" } }
                    } }
                }
                @if replayed.others > 0 { p.hint { (counted(replayed.others, "listener is", "listeners are")) " of other people, and part of all." } }
                @if replayed.has_more { p.hint { "It has more than 1,000 subscriptions; those behind them get nothing." } }
            }
            div.actions { button.primary { (icon(Icon::Delivery)) "Send again" } a.button.quiet href=(event) { "Back to the event" } }
        }
    }
}

fn kind(listener: &ListenerId) -> &'static str {
    match listener {
        ListenerId::Source(_) => "source",
        ListenerId::Workflow(_) => "workflow",
        ListenerId::Webhook(_) => "webhook",
    }
}

fn nobody(replayed: &EventsReplayed, of: &EventRef, event: &str) -> Markup {
    html! {
        @if replayed.listeners.is_empty() { p { "Nobody would get it: no webhook, source or workflow listens to it now." } }
        @else {
            p { "Nobody would get it now:" }
            ul { @for one in &replayed.listeners { li { a href=(one.id.address()) { (text::line(&one.name)) } " is paused or has no room" } } }
        }
        div.actions {
            @if let EmitterId::Source(id) = &of.emitter { a.button.primary href={ (id.address()) "/subscriptions" } { "Add a listener" } }
            a.button.quiet href=(event) { "Back to the event" }
        }
    }
}
