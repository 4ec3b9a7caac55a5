//! `/sources/{id}/subscriptions`: who gets its events, and whose events it gets.

use std::sync::Arc;

use axum::extract::State;
use headwater_model::{
    id::{EmitterId, ListenerId},
    subscription::{EmitterPattern, Subscription},
};
use headwater_platform::Owner;
use maud::{Markup, html};

use super::head::Shown;
use crate::{
    address::Address as _,
    part::{code::copyable, empty::empty, text},
    path::PathId,
    reply::{Page, PageReply, Section},
    state::Ui,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// Lists the subscriptions from and to a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    let shown = Shown::of(&ui, &visitor, &id).await?;
    let all = ui.platform.subscriptions(visitor.caller()).await?;
    let emitter = EmitterId::Source(id.clone());
    let listener = ListenerId::Source(id.clone());
    let owner = &shown.view.source.owner;
    let from = all
        .iter()
        .filter(|one| is_of(&one.emitter, &emitter, owner));
    let from: Vec<_> = from.collect();
    let to: Vec<_> = all.iter().filter(|one| one.listener == listener).collect();
    let body = html! {
        (shown.head(&ui, &visitor, "subscriptions"))
        h2 { "Who gets its events" }
        @if from.is_empty() {
            (empty("Nobody is subscribed to it; its events can be read here and over the API.", html! {
                p { (copyable(&format!("headwater subscriptions create --emitter {} --listener WEBHOOK", shown.quoted()))) }
            }))
        } @else { (table(&from, |one| listener_cell(&one.listener))) }
        @if !to.is_empty() {
            h2 { "Whose events it gets" }
            (table(&to, |one| html! { code { (one.emitter) } }))
        }
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · subscriptions", shown.name()),
        body,
    )
    .command("headwater subscriptions list"))
}

/// Whether the pattern means the source, among others perhaps.
fn is_of(pattern: &EmitterPattern, emitter: &EmitterId, owner: &Owner) -> bool {
    match pattern {
        EmitterPattern::One(one) => one == emitter,
        EmitterPattern::AllSources => true,
        EmitterPattern::AllWorkflows => false,
        EmitterPattern::User(id) => owner.user_id == *id,
        EmitterPattern::Workspace(id) => owner.workspace_id.as_ref() == Some(id),
    }
}

fn table(subscriptions: &[&Subscription], other: impl Fn(&Subscription) -> Markup) -> Markup {
    html! {
        table.list {
            thead { tr { th scope="col" { "Other side" } th scope="col" { "Channel" } th scope="col" { "Id" } } }
            tbody {
                @for one in subscriptions {
                    tr {
                        td { (other(one)) }
                        td data-label="Channel" {
                            @if one.channel.name().is_empty() { span.note { "all but the node's own" } }
                            @else { (text::line(one.channel.name())) }
                        }
                        td data-label="Id" { code { (one.id) } }
                    }
                }
            }
        }
    }
}

fn listener_cell(listener: &ListenerId) -> Markup {
    html! { a href=(listener.address()) { code { (listener) } } }
}
