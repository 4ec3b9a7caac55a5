//! `/data_stores`: key-value stores that components share by name, not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::{data_store::DataStoreName, id::RunnableId};

use headwater_platform::{NamedDataStore, PlatformError};

use super::{ApiState, CallerExtension, DataReply, PageReply, data, required};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathText, cursor},
    openapi::failure,
    wire::{
        Data, DataStore, DataStoreUser, Paged, Record, RecordRequest, RecordsRequest, TextCursor,
        WorkspaceScope, WriteRecord, place,
    },
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

/// Lists what uses a data store
///
/// The sources and workflows whose props name it, sources first. Of workflows the first 1,000 of its owner are looked at, and
/// `is_partial` says if there are more; a step whose expression names it is not listed. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/data_stores/{name}/users",
    operation_id = "list_data_store_users",
    tag = "Data stores",
    params(("name" = String, Path), Pages, WorkspaceScope),
    responses((status = 200, description = "A page of sources and workflows.", body = Paged<DataStoreUser>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn users(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Paging(page): Paging<RunnableId>,
    Params(scope): Params<WorkspaceScope>,
) -> PageReply<DataStoreUser> {
    let workspace_id = scope.workspace_id();
    let named = NamedDataStore { name, workspace_id };
    let users = platform.data_store_users(&caller, &named, &page).await?;
    Ok(Json(Paged::scanned(
        users,
        |user| cursor(&user.runnable),
        DataStoreUser::from,
    )))
}

/// Lists the records of a data store
///
/// In the order of keys, all or those with a prefix. A page ends early behind 4 MiB of values. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/data_stores/{name}/records",
    operation_id = "list_data_store_records",
    tag = "Data stores",
    params(("name" = String, Path), Pages, RecordsRequest),
    responses((status = 200, description = "A page of records.", body = Paged<Record>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn records(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Paging(page): Paging<TextCursor<String>>,
    Params(request): Params<RecordsRequest>,
) -> PageReply<Record> {
    let page = TextCursor::bare(page);
    let (named, prefix) = request.of(name);
    let page = platform
        .data_store_records(&caller, &named, &prefix, &page)
        .await?;
    Ok(Json(Paged::new(
        page,
        |record| cursor(&place(&record.key)),
        Record::from,
    )))
}

/// Shows a record of a data store
///
/// The key is in the query, because in a path not every key keeps its form. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/data_stores/{name}/record",
    operation_id = "show_data_store_record",
    tag = "Data stores",
    params(("name" = String, Path), RecordRequest),
    responses((status = 200, description = "The record.", body = Data<Record>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn record(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(request): Params<RecordRequest>,
) -> DataReply<Record> {
    let (named, key) = request.of(name);
    let key = required("key", key)?;
    let record = platform.data_store_record(&caller, &named, &key).await?;
    data(record.into())
}

/// Writes a record of a data store
///
/// Replaces the record of that key, with its expiry, and creates the store if it is the first. It is durable when this
/// answers. Not part of Pipedream's API.
#[utoipa::path(
    put,
    path = "/data_stores/{name}/record",
    operation_id = "write_data_store_record",
    tag = "Data stores",
    params(("name" = String, Path)),
    request_body = WriteRecord,
    responses((status = 200, description = "The record.", body = Data<Record>), failure::Forbidden, failure::NotFound, failure::Conflict),
)]
pub(crate) async fn write_record(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(request): Params<WriteRecord>,
) -> DataReply<Record> {
    let named = request.store(name);
    let missing = || PlatformError::invalid("value", "`value` is required; it may be null");
    let write = headwater_platform::WriteRecord {
        key: required("key", request.key)?,
        value: request.value.ok_or_else(missing)?,
        ttl: request.ttl.unwrap_or_default(),
    };
    let record = platform.write_data_store_record(&caller, &named, write);
    data(record.await?.into())
}

/// Deletes a record of a data store
///
/// Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/data_stores/{name}/record",
    operation_id = "delete_data_store_record",
    tag = "Data stores",
    params(("name" = String, Path), RecordRequest),
    responses((status = 204, description = "It is deleted."), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn delete_record(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText(name): PathText<String>,
    Params(request): Params<RecordRequest>,
) -> Result<StatusCode, ApiError> {
    let (named, key) = request.of(name);
    let key = required("key", key)?;
    platform
        .delete_data_store_record(&caller, &named, &key)
        .await?;
    Ok(StatusCode::NO_CONTENT)
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
    let workspace_id = scope.workspace_id();
    let named = NamedDataStore { name, workspace_id };
    platform.delete_data_store(&caller, &named).await?;
    Ok(StatusCode::NO_CONTENT)
}
