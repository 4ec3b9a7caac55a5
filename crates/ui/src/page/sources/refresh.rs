//! `POST /sources/{id}/versions/refresh`: the code of a source gets the latest packages that it allows, as a new version.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode, response::IntoResponse as _};
use headwater_model::id::SourceId;
use headwater_platform::UpdateSource;

use super::versions;
use crate::{
    address::Address as _,
    page::deploy::failure::Failure,
    path::PathId,
    reply::{FormReply, see_other_saying},
    state::Ui,
    visit::Visitor,
};

/// Resolves the packages anew and updates the source.
pub(crate) async fn submit(
    State(ui): State<Arc<Ui>>,
    visitor: Visitor,
    PathId(id): PathId<SourceId>,
) -> FormReply {
    let change = UpdateSource {
        refresh_deps: true,
        ..UpdateSource::default()
    };
    match ui
        .platform
        .update_source(visitor.caller(), &id, change)
        .await
    {
        Ok(view) => {
            let said = format!(
                "{} has the latest packages that its code allows",
                view.source.spec.name
            );
            let list = format!("{}/versions", id.address());
            Ok(see_other_saying(&visitor, &list, &said))
        }
        Err(error) => {
            let failed = Failure::of(error)?.markup("Its packages are as they were");
            let page = versions::page(&ui, &visitor, &id, failed).await?;
            let page = page.with_status(StatusCode::UNPROCESSABLE_ENTITY);
            Ok(page.into_response())
        }
    }
}
