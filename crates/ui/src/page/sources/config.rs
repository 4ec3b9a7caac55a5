//! `/sources/{id}/config`: its component and the values that it was given. Secrets are never shown.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{prop::PropKind, time::EpochMs};
use headwater_platform::{ComponentRef, SavedComponent};
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    page::configured::Things,
    part::{name::named, text, time},
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
    let workspace = source.owner.workspace_id.as_ref();
    let values_of = shown.view.configured_props.values();
    let things = Things::of(&ui, &visitor, workspace, values_of).await?;
    let reference = ComponentRef::Id(source.spec.component_id.clone());
    let component = ui
        .platform
        .component(visitor.caller(), &reference, workspace.cloned())
        .await;
    // The page of a source says what it can, if its code cannot be seen.
    let component = component.ok();
    let moment = |seconds: u64| time::ago(EpochMs(seconds * 1_000), visitor.now_ms);
    let body = html! {
        (shown.head(&ui, &visitor, "config"))
        dl.facts {
            dt { "Id" } dd { code { (id) } }
            dt { "Slug" } dd { (text::value(&source.name_slug)) }
            dt { "Component" } dd { (code(&shown, component.as_ref())) }
            dt { "Deployed" } dd { (moment(source.created_at.0)) }
            dt { "Changed" } dd { (moment(source.updated_at.0)) }
            dt { "Worker" } dd { @if source.spec.is_isolated { "its own" } @else { "shared as the node's isolation says" } }
        }
        div.actions {
            a.button.primary href={ (shown.base()) "/edit" } { "Edit the values" }
            a.button href={ (shown.base()) "/code" } { "Edit the code" }
        }
        h2 { "Values" }
        (values(&shown, &things, component.as_ref()))
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · configuration", shown.name()),
        body,
    )
    .command(format!("headwater describe {}", shown.quoted())))
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
                            @else { (things.value(name, value, is_data_store(name))) }
                        }
                    }
                }
            }
        }
    }
}

/// The code of the source as its name, which leads to it.
fn code(shown: &Shown, component: Option<&SavedComponent>) -> Markup {
    let id = &shown.view.source.spec.component_id;
    let described = component.map(|component| &component.description);
    let name = described.map(|one| one.name.as_str());
    html! {
        a href={ (shown.base()) "/code" } title=(id) { (named(name, id.as_str())) }
        @if let Some(version) = described.and_then(|one| one.version.as_deref()) { " " (text::line(version)) }
    }
}
