//! `/accounts`: credentials of apps, not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_model::id::{AccountId, ConnectId, RunnableId};

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    extract::{Pages, Paging, Params, PathId, cursor},
    openapi::failure,
    wire::{
        Account, AccountUser, AccountsRequest, Connect, ConnectAccount, ConnectLink, CreateAccount,
        Data, DeletedAccount, Paged, UpdateAccount, WaitQuery, id,
    },
};

/// Connects an account
///
/// Stores credentials of an app, for components with an app prop. The fields are stored encrypted and
/// never shown. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/accounts",
    operation_id = "create_account",
    tag = "Accounts",
    request_body = CreateAccount,
    responses((status = 200, description = "The account.", body = Data<Account>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateAccount>,
) -> DataReply<Account> {
    data(
        platform
            .create_account(&caller, request.into())
            .await?
            .into(),
    )
}

/// Lists the accounts
///
/// The accounts that the caller created, or those of the given workspace, in creation order. With `app` or `health`, the
/// first 1,000 are looked at, and `is_partial` says if there are more. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/accounts",
    operation_id = "list_accounts",
    tag = "Accounts",
    params(Pages, AccountsRequest),
    responses((status = 200, description = "A page of accounts.", body = Paged<Account>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<AccountId>,
    Params(request): Params<AccountsRequest>,
) -> PageReply<Account> {
    let (workspace_id, filter) = request.parts();
    let accounts = platform
        .accounts_like(&caller, workspace_id, &filter, &page)
        .await?;
    Ok(Json(Paged::scanned(
        accounts,
        |account| cursor(&account.account.id),
        Account::from,
    )))
}

/// Shows an account
///
/// With its health, without its credentials. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/accounts/{id}",
    operation_id = "account",
    tag = "Accounts",
    params(("id" = id::Account, Path)),
    responses((status = 200, description = "The account.", body = Data<Account>), failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
) -> DataReply<Account> {
    data(platform.account(&caller, &id).await?.into())
}

/// Lists what uses an account
///
/// The sources and workflows whose props name it, sources first, each with the start of its last run if that succeeded. The
/// first 1,000 sources and 1,000 workflows are looked at, and `is_partial` says if there are more; a step whose expression
/// names it is not listed. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/accounts/{id}/users",
    operation_id = "list_account_users",
    tag = "Accounts",
    params(("id" = id::Account, Path), Pages),
    responses((status = 200, description = "A page of sources and workflows.", body = Paged<AccountUser>), failure::NotFound),
)]
pub(crate) async fn users(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
    Paging(page): Paging<RunnableId>,
) -> PageReply<AccountUser> {
    let users = platform.users_of_account(&caller, &id, &page).await?;
    Ok(Json(Paged::scanned(
        users,
        |user| cursor(&user.runnable),
        AccountUser::from,
    )))
}

/// Changes an account
///
/// Its name, or values of its fields. Sources keep using it: they choose accounts by id. One of `name` and `fields` is
/// required. Not part of Pipedream's API.
#[utoipa::path(
    patch,
    path = "/accounts/{id}",
    operation_id = "update_account",
    tag = "Accounts",
    params(("id" = id::Account, Path)),
    request_body = UpdateAccount,
    responses((status = 200, description = "The account.", body = Data<Account>), failure::NotFound, failure::Conflict),
)]
pub(crate) async fn patch(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
    Params(request): Params<UpdateAccount>,
) -> DataReply<Account> {
    let update = headwater_platform::UpdateAccount {
        name: request.name,
        fields: request.fields,
    };
    let account = platform.update_account(&caller, &id, update).await?;
    data(account.into())
}

/// Checks an account
///
/// Tests the credentials with the app. Expired tokens are renewed. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/accounts/{id}/check",
    operation_id = "check_account",
    tag = "Accounts",
    params(("id" = id::Account, Path)),
    responses((status = 200, description = "The account.", body = Data<Account>), failure::NotFound),
)]
pub(crate) async fn check(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
) -> DataReply<Account> {
    data(platform.check_account(&caller, &id).await?.into())
}

/// Connects an account in a browser
///
/// Creates a link to open in a browser. It leads through the app's consent (OAuth 2) or a form to an
/// account. It works once, within ten minutes. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/accounts/connect",
    operation_id = "connect_account",
    tag = "Accounts",
    request_body = ConnectAccount,
    responses(
        (status = 200, description = "The link.", body = Data<ConnectLink>),
        failure::Forbidden, failure::NotFound, failure::Conflict,
    ),
)]
pub(crate) async fn connect(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<ConnectAccount>,
) -> DataReply<ConnectLink> {
    data(
        platform
            .begin_connect(&caller, request.into())
            .await?
            .into(),
    )
}

/// Connects an account again
///
/// Creates a link that gives the account new credentials. The account stays the same, and sources that
/// use it continue with them. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/accounts/{id}/connect",
    operation_id = "reconnect_account",
    tag = "Accounts",
    params(("id" = id::Account, Path)),
    responses(
        (status = 200, description = "The link.", body = Data<ConnectLink>),
        failure::NotFound, failure::Conflict,
    ),
)]
pub(crate) async fn reconnect(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
) -> DataReply<ConnectLink> {
    data(platform.begin_reconnect(&caller, &id).await?.into())
}

/// Gets the state of a connect
///
/// Answers immediately or, with `wait_s`, as soon as the connect has ended, at most after that many
/// seconds. The result is kept for a day. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/accounts/connect/{id}",
    operation_id = "connect",
    tag = "Accounts",
    params(("id" = id::Connect, Path), WaitQuery),
    responses((status = 200, description = "The state of the connect.", body = Data<Connect>), failure::NotFound),
)]
pub(crate) async fn connect_status(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<ConnectId>,
    Params(wait): Params<WaitQuery>,
) -> DataReply<Connect> {
    let status = platform.connect_status(&caller, &id, wait.duration());
    data(status.await?.into())
}

/// Deletes an account
///
/// Revokes its tokens first, if the app supports that; the answer reports the result, and the account
/// is deleted in any case. The next run of a source that uses it fails, until the source gets another
/// account. Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/accounts/{id}",
    operation_id = "delete_account",
    tag = "Accounts",
    params(("id" = id::Account, Path)),
    responses((status = 200, description = "It is deleted.", body = Data<DeletedAccount>), failure::NotFound),
)]
pub(crate) async fn delete(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<AccountId>,
) -> DataReply<DeletedAccount> {
    data(platform.delete_account(&caller, &id).await?.into())
}
