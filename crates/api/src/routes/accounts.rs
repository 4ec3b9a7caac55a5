//! `/accounts`: credentials of apps, an extension of the spec.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::AccountId;

use super::{AppState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Paging, Params, PathId, cursor},
    openapi::{Pages, failure},
    wire::{Account, CreateAccount, Data, Paged, WorkspaceScope, id},
};

/// Connects an account
///
/// Keeps credentials of an app, for components with an app prop. Their fields are stored encrypted
/// and never shown. An extension of the spec.
#[utoipa::path(
    post,
    path = "/v1/accounts",
    operation_id = "create_account",
    tag = "Accounts",
    request_body = CreateAccount,
    responses((status = 200, description = "The account.", body = Data<Account>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn create(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateAccount>,
) -> DataReply<Account> {
    data(app.create_account(&caller, request.into()).await?.into())
}

/// Lists the accounts
///
/// Those that the caller made, or those of the workspace that is named, in creation order. An extension of the spec.
#[utoipa::path(
    get,
    path = "/v1/accounts",
    operation_id = "list_accounts",
    tag = "Accounts",
    params(Pages, WorkspaceScope),
    responses((status = 200, description = "A page of accounts.", body = Paged<Account>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<AccountId>,
    Params(scope): Params<WorkspaceScope>,
) -> PageReply<Account> {
    let page = app.accounts(&caller, scope.workspace_id(), &page).await?;
    Ok(Json(Paged::new(
        page,
        |account| cursor(&account.id),
        Account::from,
    )))
}

/// Deletes an account
///
/// Sources that use it go on until they run next; then they fail until they are given another one.
/// An extension of the spec.
#[utoipa::path(
    delete,
    path = "/v1/accounts/{id}",
    operation_id = "delete_account",
    tag = "Accounts",
    params(("id" = id::Account, Path)),
    responses((status = 204, description = "It is deleted."), failure::NotFound),
)]
pub(crate) async fn delete(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
) -> Result<StatusCode, ApiError> {
    app.delete_account(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
