//! `/sources`: every source with its state, its last run and its last event.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::id::EmitterId;
use headwater_platform::{SourceHealth, SourceView, Wanted};
use maud::{Markup, html};

use super::head::{Shown, health_state};
use crate::{
    address,
    page::reduced,
    part::{
        code::copyable,
        empty::empty,
        event_list::live_bar,
        icon::{Icon, icon},
        outcome::outcome,
        pager::{Ends, pager},
        payload, selection, text, time,
    },
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Lists sources.
pub(crate) async fn show(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let wanted = reduced::wanted(&visitor);
    let (workspace, page) = (visitor.workspace.clone(), visitor.page_request());
    let sources = ui
        .platform
        .sources(visitor.caller(), workspace, wanted.clone(), &page)
        .await?;
    let list = visitor.to("/sources");
    let ends = Ends::of(&sources, |view| view.source.id.as_str());
    let health = ui.platform.sources_health(&sources.items).await?;
    let body = html! {
        header.title {
            h1 { "Sources" }
            div.actions { a.button.primary href=(visitor.to("/deploy")) data-key="n" { (icon(Icon::Plus)) "Deploy a source" } }
        }
        @if wanted == Wanted::default() && sources.items.is_empty() {
            (live_bar())
            div data-part="sources" { (nothing()) }
        } @else {
            (reduced::form(&visitor, &wanted, "/sources"))
            (live_bar())
            div data-part="sources" {
                @if sources.items.is_empty() {
                    (reduced::none_left(&list, "sources"))
                } @else {
                    (selection::bar(&visitor, "/sources/selected", &[("pause", "Pause"), ("resume", "Resume"), ("delete", "Delete")]))
                    (table(&visitor, sources.items.into_iter().zip(health)))
                    (pager(&visitor, &ends))
                }
            }
        }
    };
    Ok(Page::of(Section::Sources, "Sources", body)
        .changing(&Topic::Sources, &visitor)
        .command("headwater list"))
}

fn table(visitor: &Visitor, sources: impl Iterator<Item = (SourceView, SourceHealth)>) -> Markup {
    html! {
        table.list {
            thead {
                tr {
                    (selection::head())
                    th scope="col" { "Name" }
                    th scope="col" { "State" }
                    th scope="col" { "Runs on" }
                    th scope="col" { "Last run" }
                    th scope="col" { "Last event" }
                    th scope="col" { "Next" }
                }
            }
            tbody { @for (view, health) in sources { (row(visitor, Shown { view, health, refused: Vec::new() })) } }
        }
    }
}

fn row(visitor: &Visitor, shown: Shown) -> Markup {
    let now_ms = visitor.now_ms;
    let Shown { view, health, .. } = &shown;
    html! {
        tr data-row=(view.source.id) {
            (selection::cell(visitor, Some(view.source.id.as_str()), shown.name()))
            th scope="row" { a href=(shown.base()) { (text::line(shown.name())) } }
            td data-label="State" { (health_state(view, health)) }
            td data-label="Runs on" { (shown.triggers()) }
            td data-label="Last run" {
                @match &health.last_run {
                    Some(run) => { (outcome(run.ended.outcome)) " " (time::ago(run.ended.started_at_ms, now_ms)) }
                    None => { span.note { "never" } }
                }
            }
            td data-label="Last event" {
                @match &health.last_event {
                    Some(event) => {
                        @let moment = time::ago(event.indexed_at_ms, now_ms);
                        @let href = address::of_event(&EmitterId::Source(view.source.id.clone()), &event.id);
                        @match event.summary.as_deref().filter(|summary| !summary.trim().is_empty()) {
                            Some(summary) => { a href=(href) { (payload::inline(text::line(summary))) } " " span.note { (moment) } }
                            None => { a href=(href) { (moment) } }
                        }
                    }
                    None => { span.note { "none" } }
                }
            }
            td data-label="Next" { @if let Some(next) = health.next_tick_at_ms { (time::ago(next, now_ms)) } }
        }
    }
}

fn nothing() -> Markup {
    empty(
        "There are no sources here yet.",
        html! {
            p { "A source is a component that watches an API, a timer or an HTTP endpoint, and emits events." }
            p { a.button.primary href="/deploy" { (icon(Icon::Plus)) "Deploy your first source" } }
            p { "Or in a terminal: " (copyable("headwater deploy examples/http-orders.mjs")) }
        },
    )
}
