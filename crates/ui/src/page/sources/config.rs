//! `/sources/{id}/config`: its component and the values that it was given. Secrets are never shown.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::time::EpochMs;
use maud::{Markup, html};
use serde_json::Value;

use super::head::Shown;
use crate::{
    part::{payload, text, time, tree::Tree},
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// Shows the configuration of a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let source = &shown.view.source;
    let moment = |seconds: u64| time::ago(EpochMs(seconds * 1_000), visitor.now_ms);
    let body = html! {
        (shown.head(&ui, &visitor, "config"))
        dl.facts {
            dt { "Id" } dd { code { (id) } }
            dt { "Slug" } dd { (text::value(&source.name_slug)) }
            dt { "Component" } dd { code { (source.spec.component_id) } }
            dt { "Deployed" } dd { (moment(source.created_at.0)) }
            dt { "Changed" } dd { (moment(source.updated_at.0)) }
            dt { "Worker" } dd { @if source.spec.is_isolated { "its own" } @else { "shared as the node's isolation says" } }
        }
        div.actions {
            a.button.primary href={ (shown.base()) "/edit" } { "Edit the values" }
            a.button href={ (shown.base()) "/code" } { "Edit the code" }
        }
        h2 { "Values" }
        (values(&shown))
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · configuration", shown.name()),
        body,
    )
    .command(format!("headwater describe {}", shown.quoted())))
}

fn values(shown: &Shown) -> Markup {
    let props = &shown.view.configured_props;
    let part = |_: &str| String::new();
    html! {
        @if props.is_empty() { p.note { "It was given no values." } }
        table.list {
            thead { tr { th scope="col" { "Prop" } th scope="col" { "Value" } } }
            tbody {
                @for (name, value) in props {
                    tr {
                        th scope="row" { (text::line(name)) }
                        td data-label="Value" {
                            @if shown.view.secrets.contains(name) { span.note { "set, not shown" } }
                            @else if let Value::String(text) = value { (payload::inline(text::line(text))) }
                            @else { (Tree { part: &part, name, at: "" }.markup(value)) }
                        }
                    }
                }
            }
        }
    }
}
