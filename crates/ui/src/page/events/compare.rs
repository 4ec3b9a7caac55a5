//! `/sources/{id}/events/{event_id}/compare?with=`, and the same of workflows: two events of an emitter beside each other.

use std::sync::Arc;

use axum::extract::{Path, State};
use headwater_model::event::EventRef;
use headwater_platform::LoggedEvent;
use maud::{Markup, html};
use serde_json::Value;

use super::show::reference;
use crate::{
    address::{self, Address as _},
    part::{differences::differences, event_row::summary, name, payload, text, time},
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Compares two events.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Path((emitter, event)): Path<(String, String)>,
) -> PageReply {
    let of = reference(&emitter, &event)?;
    let other = visitor.parameter("with").unwrap_or_default();
    let other = reference(&emitter, other.trim())?;
    let one = ui.platform.event(visitor.caller(), &of).await?;
    let two = ui.platform.event(visitor.caller(), &other).await?;
    let value = |logged: &LoggedEvent| {
        serde_json::from_str::<Value>(logged.event.event.get()).unwrap_or_default()
    };
    let base = of.emitter.address();
    let emitters = [of.emitter.clone()];
    let names = ui.platform.names(visitor.caller(), emitters, []).await?;
    let body = html! {
        p.crumbs {
            (name::emitter(&names, &of.emitter)) " / " a href={ (base) "/events" } { "Events" } " / "
            a href=(address::of_event(&of.emitter, &of.id)) title=(of.id) { (payload::inline(text::line(&summary(&one.event)))) }
        }
        header.title { h1 { "Two events" } }
        (payload::block(differences("event", [head(&of, &one), head(&other, &two)], &value(&one), &value(&two))))
    };
    let page = Page::of(Section::Events, "Two events", body);
    let command = |of: &EventRef| format!("headwater events {} {}", of.emitter, of.id);
    Ok(page.command(command(&of)).command(command(&other)))
}

fn head(of: &EventRef, logged: &LoggedEvent) -> Markup {
    html! {
        a href=(address::of_event(&of.emitter, &of.id)) title=(of.id) { (payload::inline(text::line(&summary(&logged.event)))) } " "
        (time::exact(logged.event.indexed_at_ms))
    }
}
