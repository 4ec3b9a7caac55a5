//! `/sources`: every source with its state, its last run and its last event.

use std::{collections::HashMap, sync::Arc};

use axum::extract::State;
use headwater_model::id::{EmitterId, WorkspaceId};
use headwater_platform::{Owner, PlatformError, SourceHealth, SourceView, Wanted};
use maud::{Markup, html};

use super::head::{Shown, health_state};
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
    let (workspace, page) = (visitor.workspace.clone(), visitor.page_request());
    let sources = ui
        .platform
        .sources(visitor.caller(), workspace, wanted.clone(), &page)
        .await?;
    let list = visitor.to("/sources");
    let ends = Ends::of(&sources, |view| view.source.id.as_str());
    let health = ui.platform.sources_health(&sources.items).await?;
    let whose = Whose::of(&ui, &visitor, &sources.items).await?;
    let body = html! {
        header.title {
            h1 { "Sources" }
            div.actions { a.button.primary href=(visitor.to("/deploy")) data-key="n" { (icon(Icon::Plus)) "Deploy a source" } }
        }
        @if wanted == Wanted::default() && sources.items.is_empty() {
            (live_bar())
            div data-part="sources" { (nothing()) }
        } @else {
            (reduced::form(&visitor, &wanted, "/sources", &reduced::of_sources(&wanted)))
            (live_bar())
            div data-part="sources" {
                @if sources.items.is_empty() {
                    (reduced::none_left(&list, "sources"))
                } @else {
                    (selection::bar(&visitor, "/sources/selected", &[("run", "Run now"), ("pause", "Pause"), ("resume", "Resume"), ("delete", "Delete")]))
                    (table(&visitor, &whose, sources.items.into_iter().zip(health)))
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

fn table(
    visitor: &Visitor,
    whose: &Whose,
    sources: impl Iterator<Item = (SourceView, SourceHealth)>,
) -> Markup {
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
                    @if whose.has_workspaces() { th scope="col" { "Workspace" } }
                    @if whose.has_creators { th scope="col" { "Created by" } }
                }
            }
            tbody { @for (view, health) in sources { (row(visitor, whose, Shown { view, health, refused: Vec::new(), component: None })) } }
        }
    }
}

fn row(visitor: &Visitor, whose: &Whose, shown: Shown) -> Markup {
    let now_ms = visitor.now_ms;
    let Shown { view, health, .. } = &shown;
    html! {
        tr data-row=(view.source.id) {
            (selection::cell(visitor, Some(view.source.id.as_str()), shown.name()))
            th scope="row" { a href=(shown.base()) { (text::line(shown.name())) } }
            td data-label="State" {
                (health_state(view, health))
                @if let Some(since) = health.failing_since_ms { " " span.note { "since " (time::ago(since, now_ms)) } }
            }
            td data-label="Runs on" { (shown.triggers()) }
            td data-label="Last run" {
                @match &health.last_run {
                    Some(run) => {
                        (outcome(run.ended.outcome)) " " a href={ "/runs/" (run.id) } { (time::ago(run.ended.started_at_ms, now_ms)) }
                        " " span.note { "took " (time::took(run.ended.ended_at_ms.since(run.ended.started_at_ms))) }
                    }
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
            @if whose.has_workspaces() { td data-label="Workspace" { (whose.workspace(&view.source.owner)) } }
            @if whose.has_creators { td data-label="Created by" { (whose.creators.name(&view.source.owner.user_id)) } }
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
