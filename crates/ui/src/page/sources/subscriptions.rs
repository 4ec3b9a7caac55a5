//! `/sources/{id}/subscriptions`: who gets its events, and whose events it gets; adds listeners and removes them.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_model::{
    id::{EmitterId, ListenerId, SourceId},
    subscription::{EmitterPattern, Subscription},
};
use headwater_platform::{Owner, PlatformError};
use maud::html;

use super::head::Shown;
use crate::{
    fields::Fields,
    page::{
        subscribing::{Given, Refused, Things, table},
        webhooks::list::subscriptions,
    },
    part::{
        empty::empty,
        icon::{Icon, icon},
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    topic::Topic,
    visit::Visitor,
};

/// Lists the subscriptions from and to a source.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> PageReply {
    page(&ui, &visitor, &id, None).await
}

/// Adds a listener.
pub(crate) async fn add(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(given): Fields<Given>,
) -> FormReply {
    ui.platform.source(visitor.caller(), &id).await?;
    let added = ui
        .platform
        .subscribe(visitor.caller(), id.as_str(), &given.other, given.channel())
        .await;
    if let Err(error) = added {
        let refused = Refused::of(given, error)?;
        let page = page(&ui, &visitor, &id, Some(&refused)).await?;
        return Ok(page
            .with_status(StatusCode::UNPROCESSABLE_ENTITY)
            .into_response());
    }
    Ok(back(
        &visitor,
        &id,
        "The listener gets its events from now on",
    ))
}

/// Removes a subscription: `other` names its emitter and its listener, because one to everything is shown here, too.
pub(crate) async fn remove(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(given): Fields<Given>,
) -> FormReply {
    ui.platform.source(visitor.caller(), &id).await?;
    let (emitter, listener) = given.other.split_once(' ').unwrap_or_default();
    ui.platform
        .unsubscribe(visitor.caller(), emitter, listener, given.channel())
        .await?;
    Ok(back(&visitor, &id, "The subscription is removed"))
}

fn back(visitor: &Visitor, id: &SourceId, line: &str) -> Response {
    see_other_saying(visitor, &format!("/sources/{id}/subscriptions"), line)
}

async fn page(ui: &Ui, visitor: &Visitor, id: &SourceId, refused: Option<&Refused>) -> PageReply {
    let shown = Shown::of(ui, visitor, id).await?;
    let owner = &shown.view.source.owner;
    let workspace = owner.workspace_id.as_ref();
    let all = subscriptions(ui, visitor, workspace.cloned()).await?;
    let emitter = EmitterId::Source(id.clone());
    let listener = ListenerId::Source(id.clone());
    let is_shown =
        |one: &Subscription| is_of(&one.emitter, &emitter, owner) || one.listener == listener;
    let all: Vec<_> = all.into_iter().filter(is_shown).collect();
    let things = Things::of(ui, visitor, workspace).await?;
    let things = things.naming(ui, visitor, &all).await?;
    let from = all
        .iter()
        .filter(|one| is_of(&one.emitter, &emitter, owner));
    let from: Vec<_> = from.collect();
    let to: Vec<_> = all.iter().filter(|one| one.listener == listener).collect();
    let base = format!("{}/subscriptions", shown.base());
    let removal = |one: &Subscription| {
        let both = format!("{} {}", one.emitter, one.listener);
        (format!("{base}/remove"), both)
    };
    let body = html! {
        (shown.head(ui, visitor, "subscriptions"))
        h2 { "Subscribers" }
        @if from.is_empty() {
            (empty("Nobody is subscribed to it; its events can be read here and over the API.", html! {
                p { "Choose a listener below, or " a href=(shown.new_webhook()) { "create a webhook" } " that gets its events." }
            }))
        } @else { (table(&from, visitor, "Listener", |one| things.listener(&one.listener), removal)) }
        h3 { "Add a listener" }
        (things.add_listener(&base, &emitter, refused))
        p { a.button href=(shown.new_webhook()) { (icon(Icon::Plus)) "New webhook for its events" } }
        @if !to.is_empty() {
            h2 { "Whose events it gets" }
            (table(&to, visitor, "Emitter", |one| things.emitter(&one.emitter), removal))
        }
    };
    Ok(Page::of(
        Section::Sources,
        format!("{} · subscriptions", shown.name()),
        body,
    )
    .changing(&Topic::Source(id.clone()), visitor)
    .command("headwater subscriptions list")
    .command(format!(
        "headwater subscriptions create --emitter {} --listener WEBHOOK",
        shown.quoted()
    )))
}

/// Whether anybody gets the events of a source.
pub(super) async fn has_listeners(
    ui: &Ui,
    visitor: &Visitor,
    shown: &Shown,
) -> Result<bool, PlatformError> {
    let source = &shown.view.source;
    let workspace = source.owner.workspace_id.clone();
    let all = subscriptions(ui, visitor, workspace).await?;
    let emitter = EmitterId::Source(source.id.clone());
    let mut patterns = all.iter().map(|one| &one.emitter);
    Ok(patterns.any(|pattern| is_of(pattern, &emitter, &source.owner)))
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
