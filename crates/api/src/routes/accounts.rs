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
    wire::{Account, AccountsRequest, CreateAccount, Paged},
};

/// `POST /accounts`
pub(crate) async fn create(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateAccount>,
) -> DataReply<Account> {
    data(app.create_account(&caller, request.into()).await?.into())
}

/// `GET /accounts`
pub(crate) async fn list(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<AccountId>,
    Params(request): Params<AccountsRequest>,
) -> PageReply<Account> {
    let page = app.accounts(&caller, request.workspace_id(), &page).await?;
    Ok(Json(Paged::new(
        page,
        |account| cursor(&account.id),
        Account::from,
    )))
}

/// `DELETE /accounts/{id}`
pub(crate) async fn delete(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
) -> Result<StatusCode, ApiError> {
    app.delete_account(&caller, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}
