//! An event on `$errors`: what a run threw.

use headwater_model::{event::Event, id::EmitterId, time::EpochMs};
use maud::{Markup, html};
use serde::Deserialize;

use crate::address;

use super::{event_row, payload, text, time};

/// The part of an event on `$errors` that is shown.
#[derive(Deserialize)]
struct ErrorEvent {
    error: Thrown,
}

#[derive(Deserialize)]
struct Thrown {
    #[serde(default)]
    name: String,
    #[serde(default)]
    message: String,
    #[serde(default)]
    stack: String,
}

/// The error with its stack.
pub(crate) fn item(emitter: &EmitterId, event: &Event, now_ms: EpochMs) -> Markup {
    let read = serde_json::from_str::<ErrorEvent>(event.event.get());
    html! {
        article.card {
            h3 { a href=(address::of_event(emitter, &event.id)) { (payload::inline(text::line(&event_row::summary(event)))) } }
            p.note {
                (time::ago(event.indexed_at_ms, now_ms))
                @if let Some(run) = &event.run_id { " in " a href={ "/runs/" (run) } { "this run" } }
            }
            @if let Ok(ErrorEvent { error }) = read {
                @if error.stack.is_empty() { p { (text::value(&error.name)) ": " (text::value(&error.message)) } }
                @else { pre.stack tabindex="0" { (text::value(&error.stack)) } }
            }
        }
    }
}
