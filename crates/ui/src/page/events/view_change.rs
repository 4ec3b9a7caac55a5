//! `POST /events` and `/events/views/delete`: naming a search, and taking the name away.

use std::sync::Arc;

use axum::{
    extract::State,
    http::StatusCode,
    response::{IntoResponse as _, Response},
};
use headwater_platform::PlatformError;
use maud::html;
use serde::Deserialize;
use url::form_urlencoded;

use super::{
    list,
    views::{Unsaved, address},
    wanted::Wanted,
};
use crate::{
    fields::Fields,
    part::{
        confirm::{Question, confirm},
        text,
    },
    problem::{Problem, capital},
    reply::{FormReply, Page, PageReply, Section, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// The name of a search, or the view to delete.
#[derive(Deserialize)]
pub(crate) struct Name {
    name: String,
}

/// Names the search of the address.
pub(crate) async fn save(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Name>,
) -> Result<Response, Problem> {
    let (_, query) = visitor.location.split_once('?').unwrap_or_default();
    let (name, wanted) = (given.name.as_str(), Wanted::parse(query));
    let saved = match wanted.search(&visitor) {
        Ok(search) => {
            let saved = ui
                .platform
                .set_event_view(visitor.caller(), name, search, wanted.times());
            saved.await
        }
        Err(error) => Err(error),
    };
    match saved {
        Ok(view) => {
            let line = format!("The view {} is saved", view.name);
            let target = address(&visitor, &wanted);
            Ok(see_other_saying(&visitor, &target, &line))
        }
        Err(error @ (PlatformError::Invalid(_) | PlatformError::Conflict(_))) => {
            let wrong = &capital(&error.to_string());
            let unsaved = Unsaved { name, wrong };
            let page = list::page(&ui, &visitor, &wanted, Some(&unsaved)).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
        Err(error) => Err(error.into()),
    }
}

/// Asks whether to delete a view.
pub(crate) async fn ask_to_delete(State(ui): State<Arc<Ui>>, visitor: Visitor) -> PageReply {
    let name = visitor.parameter("name").unwrap_or_default();
    let question = Question {
        title: &format!("Delete the view {}?", text::visible(&name)),
        consequences: html! { p { "The name goes; no event does." @if visitor.workspace.is_some() { " It goes for all members of the workspace." } } },
        action: &visitor.to("/events/views/delete"),
        fields: &[("name", &name)],
        button: "Delete the view",
        back: &visitor.to("/events"),
    };
    let page = Page::of(Section::Events, "Delete a view", confirm(&question));
    let named: String = form_urlencoded::byte_serialize(name.as_bytes()).collect();
    let of = visitor.workspace.as_ref();
    let of = of.map_or_else(String::new, |id| format!("?workspace_id={id}"));
    Ok(page.request(
        &ui,
        "DELETE",
        &format!("/event_views/{}{of}", named.replace('+', "%20")),
    ))
}

/// Deletes a view.
pub(crate) async fn delete(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    Fields(given): Fields<Name>,
) -> FormReply {
    let workspace = visitor.workspace.clone();
    ui.platform
        .delete_event_view(visitor.caller(), workspace, &given.name)
        .await?;
    let line = format!("The view {} is deleted", given.name);
    Ok(see_other_saying(&visitor, &visitor.to("/events"), &line))
}
