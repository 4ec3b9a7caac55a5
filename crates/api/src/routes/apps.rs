//! `/apps`: the catalog of apps, not part of Pipedream's API.

use axum::{Json, extract::State};

use super::{ApiState, PageReply};
use crate::{
    extract::{Pages, Paging, Params, cursor},
    wire::{App, AppsQuery, Paged, TextCursor, place},
};

/// Lists the apps
///
/// The apps whose accounts the node can connect, in the order of their slugs. Accounts of other apps
/// can be created too. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/apps",
    operation_id = "list_apps",
    tag = "Accounts",
    params(Pages, AppsQuery),
    responses((status = 200, description = "A page of apps.", body = Paged<App>)),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Paging(page): Paging<TextCursor<String>>,
    Params(query): Params<AppsQuery>,
) -> PageReply<App> {
    let apps = &platform.config().apps;
    let query = query.q.as_deref().unwrap_or_default();
    let page = apps.search(query, &TextCursor::bare(page));
    Ok(Json(Paged::new(
        page,
        |app| cursor(&place(&app.slug)),
        |app| App::from(&*app),
    )))
}
