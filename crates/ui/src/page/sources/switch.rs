//! `POST /sources/{id}/switch`: pauses and resumes a source.

use std::sync::Arc;

use axum::extract::State;
use headwater_platform::UpdateSource;
use serde::Deserialize;

use crate::{
    address::Address as _,
    fields::Fields,
    path::PathId,
    reply::{FormReply, see_other_saying},
    state::Ui,
    visit::Visitor,
};
use headwater_model::id::SourceId;

/// The form's fields.
#[derive(Deserialize)]
pub(crate) struct Switch {
    active: bool,
}

/// Switches the triggers of a source on or off.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
    Fields(given): Fields<Switch>,
) -> FormReply {
    let change = UpdateSource {
        active: Some(given.active),
        ..UpdateSource::default()
    };
    let view = ui
        .platform
        .update_source(visitor.caller(), &id, change)
        .await?;
    let done = match given.active {
        true => "runs again",
        false => "is paused: it runs on nothing until it is resumed",
    };
    let line = format!("{} {done}", view.source.spec.name);
    Ok(see_other_saying(&visitor, &id.address(), &line))
}
