//! `/sources/{id}/config`: its component and the values that it was given. Secrets are never shown.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{prop::PropKind, time::EpochMs};
use headwater_platform::SavedComponent;
use maud::{Markup, html};
use serde_json::Value;
use url::form_urlencoded::byte_serialize;

use super::{component::Component, head::Shown};
use crate::{
    page::configured::Things,
    part::{payload, text, time, tree::Tree},
    path::PathId,
    problem::Problem,
    reply::{Page, PageReply, Section},
    state::Ui,
    topic::Topic,
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
    let workspace = source.owner.workspace_id.as_ref();
    let values_of = shown.view.configured_props.values();
    let things = Things::of(&ui, &visitor, workspace, values_of).await?;
    let component = shown.component.as_ref().map(Component::saved);
    let moment = |seconds: u64| time::ago(EpochMs(seconds * 1_000), visitor.now_ms);
    let prop = visitor.parameter("prop");
    let part = prop.map(|prop| part(&shown, &prop, &visitor)).transpose()?;
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
        @match &part { Some(part) => { (part) } None => { (values(&shown, &things, component)) } }
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · configuration", shown.name()),
        body,
    )
    .changing(&Topic::Source(id), &visitor)
    .command(format!("headwater describe {}", shown.quoted())))
}

/// The address of the page that shows a part of a value, up to the pointer.
fn page_of(shown: &Shown, prop: &str) -> String {
    let prop: String = byte_serialize(prop.as_bytes()).collect();
    format!("{}/config?prop={prop}&at=", shown.base())
}

/// One value, or the part of it that the address names, where the table has no room for it.
fn part(shown: &Shown, prop: &str, visitor: &Visitor) -> Result<Markup, Problem> {
    let is_secret = shown.view.secrets.iter().any(|secret| secret == prop);
    let value = shown.view.configured_props.get(prop).filter(|_| !is_secret);
    let value = value.ok_or_else(|| Problem::not_found("value", prop))?;
    let at = visitor.parameter("at").unwrap_or_default();
    let page = page_of(shown, prop);
    let address = |pointer: &str| {
        let pointer: String = byte_serialize(pointer.as_bytes()).collect();
        format!("{page}{pointer}")
    };
    let tree = Tree {
        part: Some(&address),
        name: prop,
        at: &at,
        from: Some(visitor.first_child()),
        raw: None,
    };
    Ok(html! {
        p.crumbs { a href={ (shown.base()) "/config" } { "All values" } " / " (text::line(prop)) }
        @match value {
            Value::String(text) => { (payload::block(html! { pre tabindex="0" { (text::value(text)) } })) }
            value => { (tree.part_of(value, &page)) }
        }
    })
}

/// The values; those of data stores are told by the definitions of the props.
fn values(shown: &Shown, things: &Things, component: Option<&SavedComponent>) -> Markup {
    let props = &shown.view.configured_props;
    let definitions = component.map_or(&[][..], |component| &component.description.props);
    let is_data_store = |name: &str| {
        let mut found = definitions.iter();
        found.any(|prop| prop.name == name && prop.kind() == PropKind::DataStore)
    };
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
                            @else { (things.value(name, value, is_data_store(name), Some(&page_of(shown, name)))) }
                        }
                    }
                }
            }
        }
    }
}
