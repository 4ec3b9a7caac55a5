//! `/`: the state of everything at a glance.

use std::sync::Arc;

use axum::extract::State;
use maud::html;

use crate::{
    part::{code::copyable, empty::empty},
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Shows the first page.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let sources = ui
        .platform
        .own_sources(
            visitor.caller(),
            &headwater_model::page::PageRequest::first(1),
        )
        .await?;
    let body = html! {
        h1 { "Home" }
        @if sources.total_count == 0 {
            (empty("Nothing is deployed yet.", html! {
                p { "A source watches an API, a timer or an HTTP endpoint. Deploy one of the examples:" }
                p { (copyable("headwater deploy examples/http-orders.mjs")) }
            }))
        }
    };
    Ok(Page::of(Section::Home, "Home", body))
}
