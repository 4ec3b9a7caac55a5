//! `/sources`: every source with its state, its last run and its last event.

use std::{collections::HashMap, sync::Arc};

use axum::extract::State;
use headwater_model::{
    component::Description,
    id::{ComponentId, EmitterId, WorkspaceId},
    time::EpochMs,
};
use headwater_platform::{
    Owner, PlatformError, SourceHealth, SourceKey, SourceOrder, SourceView, Wanted,
};
use maud::{Markup, html};

use super::{
    component,
    head::{Shown, health_state},
    order,
};
use crate::{
    address,
    page::{accounts::creators::Creators, reduced},
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
    let wanted = reduced::wanted_sources(&visitor);
    let order = order::wanted(&visitor)?;
    let (workspace, page) = (visitor.workspace.clone(), visitor.page_request());
    let sources = ui
        .platform
        .sources_in_order(visitor.caller(), workspace, wanted.clone(), order, &page)
        .await?;
    let list = visitor.to("/sources");
    let ends = Ends::of(&sources, |placed| &placed.place);
    let sources: Vec<_> = sources
        .items
        .into_iter()
        .map(|placed| placed.item)
        .collect();
    let is_empty = sources.is_empty();
    let table = Table::of(&ui, &visitor, order, sources).await?;
    let filters = html! { (reduced::of_sources(&wanted)) (order::field(order)) };
    let body = html! {
        header.title {
            h1 { "Sources" }
            div.actions { a.button.primary href=(visitor.to("/deploy")) data-key="n" { (icon(Icon::Plus)) "Deploy a source" } }
        }
        @if wanted == Wanted::default() && is_empty {
            (live_bar())
            div data-part="sources" { (nothing()) }
        } @else {
            (reduced::form(&visitor, &wanted, "/sources", &filters))
            (live_bar())
            div data-part="sources" {
                @if is_empty {
                    (reduced::none_left(&list, "sources"))
                } @else {
                    (selection::bar(&visitor, "/sources/selected", &[("run", "Run now"), ("pause", "Pause"), ("resume", "Resume"), ("delete", "Delete")]))
                    (table.markup())
                    (pager(&visitor, &ends))
                }
            }
        }
    };
    Ok(Page::of(Section::Sources, "Sources", body)
        .changing(&Topic::Sources, &visitor)
        .command("headwater list"))
}

/// The owners of listed sources, as far as they differ.
struct Whose {
    /// The names of workspaces, on a list that has sources of several places.
    workspaces: HashMap<WorkspaceId, String>,
    creators: Creators,
    has_creators: bool,
}

impl Whose {
    async fn of(ui: &Ui, visitor: &Visitor, sources: &[SourceView]) -> Result<Self, PlatformError> {
        let own = visitor.caller().user_id();
        let mut workspaces = HashMap::new();
        let owners = sources.iter().map(|view| &view.source.owner);
        // A list of one workspace says so itself.
        let places = owners.filter_map(|owner| owner.workspace_id.as_ref());
        for id in places.filter(|_| visitor.workspace.is_none()) {
            if workspaces.contains_key(id) {
                continue;
            }
            // One that has left it keeps its sources there.
            let name = match ui.platform.workspace(visitor.caller(), id).await {
                Ok(view) => view.workspace.name,
                Err(_) => id.to_string(),
            };
            workspaces.insert(id.clone(), name);
        }
        Ok(Self {
            workspaces,
            creators: Creators::of(ui, visitor, visitor.workspace.as_ref()).await?,
            has_creators: sources.iter().any(|view| view.source.owner.user_id != *own),
        })
    }

    fn has_workspaces(&self) -> bool {
        !self.workspaces.is_empty()
    }

    fn workspace(&self, owner: &Owner) -> Markup {
        let id = owner.workspace_id.as_ref();
        let known = id.and_then(|id| Some((id, self.workspaces.get(id)?)));
        html! {
            @match known {
                Some((id, name)) => { a href={ "/sources?workspace=" (id) } { (text::line(name)) } }
                None => { span.note { "your own" } }
            }
        }
    }
}

/// The rows of a page, with everything that they tell.
struct Table<'a> {
    ui: &'a Ui,
    visitor: &'a Visitor,
    order: SourceOrder,
    whose: Whose,
    components: HashMap<ComponentId, Description>,
    rows: Vec<Shown>,
}

impl<'a> Table<'a> {
    async fn of(
        ui: &'a Ui,
        visitor: &'a Visitor,
        order: SourceOrder,
        sources: Vec<SourceView>,
    ) -> Result<Self, PlatformError> {
        let health = ui.platform.sources_health(&sources).await?;
        let components = sources.iter().map(|view| &view.source.spec.component_id);
        let components = ui
            .platform
            .component_descriptions(visitor.caller(), components.cloned());
        let components = components.await?;
        let whose = Whose::of(ui, visitor, &sources).await?;
        let shown = |(view, health)| Shown {
            view,
            health,
            refused: Vec::new(),
            component: None,
        };
        Ok(Self {
            ui,
            visitor,
            order,
            whose,
            components,
            rows: sources.into_iter().zip(health).map(shown).collect(),
        })
    }

    fn markup(&self) -> Markup {
        let head = |by, label| order::head(self.visitor, self.order, by, label);
        html! {
            table.list.sortable {
                thead {
                    tr {
                        (selection::head())
                        (head(SourceKey::Name, "Name"))
                        th scope="col" { "State" }
                        th scope="col" { "App" }
                        th.spare scope="col" { "Component" }
                        th scope="col" { "Runs on" }
                        th scope="col" { "Last run" }
                        (head(SourceKey::LastEvent, "Last event"))
                        th scope="col" { "Next" }
                        (head(SourceKey::Created, "Created"))
                        @if self.whose.has_workspaces() { th scope="col" { "Workspace" } }
                        @if self.whose.has_creators { th scope="col" { "Created by" } }
                    }
                }
                tbody { @for shown in &self.rows { (self.row(shown)) } }
            }
        }
    }

    fn row(&self, shown: &Shown) -> Markup {
        let (visitor, now_ms) = (self.visitor, self.visitor.now_ms);
        let Shown { view, health, .. } = shown;
        let source = &view.source;
        let description = self.components.get(&source.spec.component_id);
        let props = description.map(|description| &*description.props);
        let props = props.unwrap_or_default().iter();
        let apps = component::apps(self.ui, props.chain(&source.spec.dynamic_props));
        html! {
            tr data-row=(source.id) {
                (selection::cell(visitor, Some(source.id.as_str()), shown.name()))
                th scope="row" { a href=(shown.base()) { (text::line(shown.name())) } }
                td data-label="State" {
                    (health_state(view, health))
                    @if let Some(since) = health.failing_since_ms { " " span.note { "since " (time::ago(since, now_ms)) } }
                }
                td.app data-label="App" { @if !apps.is_empty() { (text::line(&apps)) } }
                td.spare data-label="Component" { @if let Some(description) = description { (component::link(view, description)) } }
                td data-label="Runs on" { (shown.triggers()) }
                td data-label="Last run" { (last_run(health, now_ms)) }
                td data-label="Last event" { (last_event(shown, now_ms)) }
                td data-label="Next" { @if let Some(next) = health.next_tick_at_ms { (time::ago(next, now_ms)) } }
                td.spare data-label="Created" { (time::ago(source.created_at.to_ms(), now_ms)) }
                @if self.whose.has_workspaces() { td data-label="Workspace" { (self.whose.workspace(&source.owner)) } }
                @if self.whose.has_creators { td data-label="Created by" { (self.whose.creators.name(&source.owner.user_id)) } }
            }
        }
    }
}

fn last_run(health: &SourceHealth, now_ms: EpochMs) -> Markup {
    html! {
        @match &health.last_run {
            Some(run) => {
                (outcome(run.ended.outcome)) " " a href={ "/runs/" (run.id) } { (time::ago(run.ended.started_at_ms, now_ms)) }
                " " span.note { "took " (time::took(run.ended.ended_at_ms.since(run.ended.started_at_ms))) }
            }
            None => { span.note { "never" } }
        }
    }
}

fn last_event(shown: &Shown, now_ms: EpochMs) -> Markup {
    html! {
        @match &shown.health.last_event {
            Some(event) => {
                @let moment = time::ago(event.indexed_at_ms, now_ms);
                @let href = address::of_event(&EmitterId::Source(shown.view.source.id.clone()), &event.id);
                @match event.summary.as_deref().filter(|summary| !summary.trim().is_empty()) {
                    Some(summary) => { a href=(href) { (payload::inline(text::line(summary))) } " " span.note { (moment) } }
                    None => { a href=(href) { (moment) } }
                }
            }
            None => { span.note { "none" } }
        }
    }
}

fn nothing() -> Markup {
    empty(
        "There are no sources here yet.",
        html! {
            p { "A source is a component that watches an API, a timer or an HTTP endpoint, and emits events." }
            p.actions {
                a.button.primary href="/deploy" { (icon(Icon::Plus)) "Deploy your first source" }
                a.button href="/deploy/code" { "Write its code" }
            }
            p { "Or in a terminal: " (copyable("headwater deploy examples/http-orders.mjs")) }
        },
    )
}
