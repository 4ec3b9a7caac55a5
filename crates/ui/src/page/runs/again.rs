//! `/runs/{id}/again`: a run of a source is done again, on the code of now or, as a trial, on the code of then.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::id::InvocationId;
use headwater_platform::{RunTrigger, SourceDeploymentView, SourceReplay};
use maud::{Markup, html};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    address::Address as _,
    assets::EDITOR,
    fields::Fields,
    page::{
        deploy::{
            failure::Failure,
            trial::{self, Tried},
        },
        sources::versions::{by, component, short_hash},
    },
    part::{
        icon::{Icon, icon},
        payload,
        text::{self, counted},
        time,
        verification::COPIED_BYTES_MAX,
    },
    path::PathId,
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Again {
    #[serde(default)]
    event: String,
    #[serde(default)]
    version: String,
}

/// Shows the event, and asks on which code.
pub(crate) async fn show(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<InvocationId>,
) -> PageReply {
    let replay = ui.platform.source_replay(visitor.caller(), &id).await?;
    let by_hand = || json!({ "timestamp": visitor.now_ms.to_seconds() });
    let event = match (&replay.event, replay.trigger) {
        (Some(_), _) if is_large(&replay) => String::new(),
        (Some(event), _) => format!("{event:#}"),
        (None, RunTrigger::Manual) => format!("{:#}", by_hand()),
        (None, _) => String::new(),
    };
    Ok(page(&visitor, &id, &replay, &event, html! {}))
}

/// Runs it on the code of now and goes to that run, or tries the code of then and shows the result.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<InvocationId>,
    Fields(given): Fields<Again>,
) -> FormReply {
    let replay = ui.platform.source_replay(visitor.caller(), &id).await?;
    let failed = |failure: Failure| {
        let above = failure.markup("It did not run");
        let page = page(&visitor, &id, &replay, &given.event, above);
        page.with_status(StatusCode::UNPROCESSABLE_ENTITY)
    };
    let event = match event(&given.event) {
        Ok(event) => event,
        Err(reason) => return Ok(failed(Failure::Told(reason)).into_response()),
    };
    match given.version.as_str() {
        "then" => match ui
            .platform
            .try_source_run(visitor.caller(), &id, event)
            .await
        {
            Ok(report) => {
                let tried = trial::result(&report, Tried::Former, None);
                Ok(page(&visitor, &id, &replay, &given.event, tried).into_response())
            }
            Err(error) => Ok(failed(Failure::of(error)?).into_response()),
        },
        _ => match ui
            .platform
            .replay_source_run(visitor.caller(), &id, event)
            .await
        {
            Ok(report) => {
                let emitted = counted(report.events, "event", "events");
                let said = format!("It ran again and emitted {emitted}");
                let run = format!("/runs/{}", report.invocation_id);
                Ok(see_other_saying(&visitor, &run, &said))
            }
            Err(error) => Ok(failed(Failure::of(error)?).into_response()),
        },
    }
}

/// The event that was entered, if one was.
fn event(text: &str) -> Result<Option<Value>, String> {
    match text.trim() {
        "" => Ok(None),
        text => match serde_json::from_str(text) {
            Ok(event) => Ok(Some(event)),
            Err(error) => Err(format!("The event is not JSON: {error}")),
        },
    }
}

fn page(
    visitor: &Visitor,
    id: &InvocationId,
    replay: &SourceReplay,
    event: &str,
    above: Markup,
) -> Page {
    let base = replay.source_id.address();
    let body = html! {
        p.crumbs {
            a href="/sources" { "Sources" } " / " a href=(base) { (text::line(&replay.source_name)) } " / "
            a href={ (base) "/runs" } { "Runs" } " / " a href={ "/runs/" (id) } { "This run" }
        }
        h1 { "Run it again" }
        (above)
        form method="post" action={ "/runs/" (id) "/again" } {
            (field(replay, event))
            (versions(replay, &base, visitor))
            (buttons(replay))
        }
    };
    let mut command = format!("headwater runs replay {id}");
    if replay.event.is_none() {
        command += " --event @event.json";
    }
    Page::of(Section::Sources, "Run it again", body).command(command)
}

/// Whether the run's event is too large to be edited; it is taken as it is.
fn is_large(replay: &SourceReplay) -> bool {
    let event = replay.event.as_ref();
    event.is_some_and(|event| event.to_string().len() > COPIED_BYTES_MAX)
}

fn field(replay: &SourceReplay, event: &str) -> Markup {
    let field = html! {
        div.field {
            label for="event" { "Event" }
            textarea #event name="event" rows="8" spellcheck="false" data-editor=(EDITOR.path()) data-language="json" data-at="press" { (event) }
            p.hint { (origin(replay)) }
        }
    };
    match event.is_empty() {
        true => field,
        false => payload::block(field),
    }
}

/// Where the event comes from, or where to find it.
fn origin(replay: &SourceReplay) -> Markup {
    let is_known = replay.event.is_some();
    html! {
        @match replay.trigger {
            RunTrigger::Event if is_large(replay) => { "Empty: the event that it ran for, as it is. It is too large to be edited here." }
            RunTrigger::Event if is_known => { "The event that it ran for." }
            RunTrigger::Timer if is_known => { "The tick that it ran for, as the timer is set now." }
            RunTrigger::Event => { "The event that it ran for is not kept any more: enter it as JSON." }
            RunTrigger::Timer => { "A run keeps no event, and the source has not just one timer: enter the tick as JSON, such as " code { "{\"timestamp\": 1767225600}" } "." }
            RunTrigger::Http => { "A run keeps no request: enter it as JSON, such as " code { "{\"method\": \"POST\", \"body\": {}}" } ". Events that it emitted may have its body." }
            RunTrigger::Manual => { "A run keeps no event: this is that of a run by hand. Enter another one if it had one." }
            RunTrigger::Email | RunTrigger::Call | RunTrigger::Replay | RunTrigger::Deploy
            | RunTrigger::Activate | RunTrigger::Deactivate => { "A run keeps no event: enter it as JSON, such as " code { "{}" } "." }
        }
    }
}

fn versions(replay: &SourceReplay, base: &str, visitor: &Visitor) -> Markup {
    let one = |view: &SourceDeploymentView| {
        let deployment = &view.deployment;
        html! {
            a href={ (base) "/versions/" (deployment.id) } { (component(deployment)) } ", code " code { (short_hash(deployment)) }
            ", deployed " (time::ago(deployment.created_at_ms, visitor.now_ms)) " by " (by(deployment))
        }
    };
    html! {
        dl.facts {
            @if let Some(now) = &replay.now { dt { "Code of now" } dd { (one(now)) } }
            dt { "Code of then" }
            dd {
                @match &replay.then {
                    Some(_) if replay.is_unchanged() => { "the same: nothing was deployed since" }
                    Some(then) => (one(then)),
                    None => { "not kept any more" }
                }
            }
        }
        p { "Either way, everything that the code does outside happens again." }
        @if let Some(then) = replay.then.as_ref().filter(|_| !replay.is_unchanged()) {
            p {
                "The code of then is tried, with its values and a copy of the key-value map: its events are shown and go nowhere, and the map stays as it is. "
                "A source has one map and one memory of dedupe, which both belong to the code of now. To have the former code run for good, "
                a href={ (base) "/versions/" (then.deployment.id) "/roll_back" } { "roll back to it" } "."
            }
        }
    }
}

fn buttons(replay: &SourceReplay) -> Markup {
    let then = replay.then.as_ref().filter(|_| !replay.is_unchanged());
    let now = replay.now.as_ref();
    html! {
        div.actions {
            button.primary name="version" value="now" data-tests {
                (icon(Icon::Play)) "Run on the code of now" @if let Some(now) = now { " (" (told_apart(now, then)) ")" }
            }
            @if let Some(then) = then {
                button name="version" value="then" { "Try the code of then (" (told_apart(then, now)) ")" }
            }
        }
    }
}

/// The version of a deployment, or that which tells it from another one with the same.
fn told_apart(view: &SourceDeploymentView, other: Option<&SourceDeploymentView>) -> Markup {
    let own = &view.deployment.component;
    let other = other.map(|other| &other.deployment.component);
    let is_same_version = other.is_some_and(|other| other.version == own.version);
    html! {
        @match &own.version {
            Some(version) if !is_same_version => (text::line(version)),
            _ if other.is_some_and(|other| other.code_hash == own.code_hash) => { "its values" }
            _ => (short_hash(&view.deployment)),
        }
    }
}
