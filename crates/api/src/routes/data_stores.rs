//! `/data_stores`: key-value stores that components share by name, not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::data_store::DataStoreName;

use super::{ApiState, CallerExtension, PageReply};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathText, cursor},
    openapi::failure,
    wire::{DataStore, Paged, Record, TextCursor, WorkspaceScope, place},
};

/// Lists the data stores
///
/// The caller's own data stores, or those of the given workspace, in the order of names. A store exists
/// from its first record on. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/data_stores",
    operation_id = "list_data_stores",
    tag = "Data stores",
    params(Pages, WorkspaceScope),
    responses((status = 200, description = "A page of data stores.", body = Paged<DataStore>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<TextCursor<DataStoreName>>,
    Params(scope): Params<WorkspaceScope>,
) -> PageReply<DataStore> {
    let page = platform
        .data_stores(&caller, scope.workspace_id(), &TextCursor::bare(page))
        .await?;
    Ok(Json(Paged::new(
        page,
        |store| cursor(&place(store.name.as_str())),
        DataStore::from,
    )))
}

/// Lists the records of a data store
///
/// In the order of keys. A page ends early behind 4 MiB of values. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/data_stores/{name}/records",
    operation_id = "list_data_store_records",
    tag = "Data stores",
    params(("name" = String, Path), Pages, WorkspaceScope),
    responses((status = 200, description = "A page of records.", body = Paged<Record>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn records(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Paging(page): Paging<TextCursor<String>>,
    Params(scope): Params<WorkspaceScope>,
) -> PageReply<Record> {
    let page = TextCursor::bare(page);
    let page = platform
        .data_store_records(&caller, &name, scope.workspace_id(), &page)
        .await?;
    Ok(Json(Paged::new(
        page,
        |record| cursor(&place(&record.key)),
        Record::from,
    )))
}

/// Deletes a data store
///
/// Deletes it with all its records. A component that writes to it creates it again. Not part of
/// Pipedream's API.
#[utoipa::path(
    delete,
    path = "/data_stores/{name}",
    operation_id = "delete_data_store",
    tag = "Data stores",
    params(("name" = String, Path), WorkspaceScope),
    responses((status = 204, description = "It is deleted."), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(scope): Params<WorkspaceScope>,
) -> Result<StatusCode, ApiError> {
    platform
        .delete_data_store(&caller, &name, scope.workspace_id())
        .await?;
    Ok(StatusCode::NO_CONTENT)
}
