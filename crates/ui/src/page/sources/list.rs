//! `/sources`: every source with its state.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    id::SourceId,
    page::{Page as Listed, PageRequest},
};
use headwater_platform::{PlatformError, SourceView};
use maud::{Markup, html};

use crate::{
    part::{
        code::copyable,
        empty::empty,
        icon::{Icon, icon},
        pager::{Ends, pager},
        state::{Tone, state},
        text, time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};

/// Lists sources.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let page = visitor.page_request();
    let sources = listed(&ui, &visitor, &page).await?;
    let ends = Ends {
        first: sources.items.first().map(|view| view.source.id.as_str()),
        last: sources.items.last().map(|view| view.source.id.as_str()),
        rows: sources.items.len(),
        total_count: sources.total_count,
    };
    let body = html! {
        header.title {
            h1 { "Sources" }
            div.actions { a.button.primary href=(visitor.to("/deploy")) data-key="n" { (icon(Icon::Plus)) "Deploy a source" } }
        }
        @if sources.items.is_empty() {
            (nothing())
        } @else {
            (table(&visitor, &sources.items))
            (pager(&visitor, &ends))
        }
    };
    Ok(Page::of(Section::Sources, "Sources", body).command("headwater list"))
}

async fn listed(
    ui: &Ui,
    visitor: &Visitor,
    page: &PageRequest<SourceId>,
) -> Result<Listed<SourceView>, PlatformError> {
    match visitor.workspace.clone() {
        Some(id) => {
            ui.platform
                .workspace_sources(visitor.caller(), id, page)
                .await
        }
        None => ui.platform.own_sources(visitor.caller(), page).await,
    }
}

fn table(visitor: &Visitor, sources: &[SourceView]) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Name" } th scope="col" { "State" } th scope="col" { "Deployed" } } }
            tbody {
                @for view in sources {
                    tr data-key=(view.source.id) {
                        th scope="row" { a href={ "/sources/" (view.source.id) } { (text::line(&view.source.spec.name)) } }
                        td data-label="State" { (state_of(view)) }
                        td data-label="Deployed" { (time::ago(headwater_model::time::EpochMs(view.source.updated_at.0 * 1000), visitor.now_ms)) }
                    }
                }
            }
        }
    }
}

fn state_of(view: &SourceView) -> Markup {
    match view.active() {
        true => state(Tone::Good, "active"),
        false => state(Tone::Quiet, "paused"),
    }
}

fn nothing() -> Markup {
    empty(
        "There are no sources here yet.",
        html! {
            p { "A source is a component that watches an API, a timer or an HTTP endpoint, and emits events." }
            p { (copyable("headwater deploy examples/http-orders.mjs")) }
        },
    )
}
