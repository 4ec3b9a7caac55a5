//! `/workspaces`: one with its usage, and its subscriptions. Creating them and managing their members
//! are not part of Pipedream's API.

use axum::{
    Json,
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_model::id::{UserId, WorkspaceId};
use headwater_platform::PlatformError;

use super::{ApiState, CallerExtension, DataReply, PageReply, data};
use crate::{
    error::ApiError,
    extract::{Pages, Paging, Params, PathId, PathText, cursor},
    openapi::failure,
    wire::{AddMember, CreateWorkspace, Data, Paged, Subscription, User, Workspace, id},
};

/// Creates a workspace
///
/// The caller is its first member. Not part of Pipedream's API.
#[utoipa::path(
    post,
    path = "/workspaces",
    operation_id = "create_workspace",
    tag = "Users and workspaces",
    request_body = CreateWorkspace,
    responses((status = 200, description = "The workspace.", body = Data<Workspace>), failure::Conflict),
)]
pub(crate) async fn create(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Params(request): Params<CreateWorkspace>,
) -> DataReply<Workspace> {
    data(
        platform
            .create_workspace(&caller, request.into())
            .await?
            .into(),
    )
}

/// Lists the caller's workspaces
///
/// The workspaces that the caller is a member of, in creation order. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workspaces",
    operation_id = "list_workspaces",
    tag = "Users and workspaces",
    params(Pages),
    responses((status = 200, description = "A page of workspaces.", body = Paged<Workspace>)),
)]
pub(crate) async fn list(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    Paging(page): Paging<WorkspaceId>,
) -> PageReply<Workspace> {
    let page = platform.workspaces(&caller, &page).await?;
    Ok(Json(Paged::new(
        page,
        |view| cursor(&view.workspace.id),
        Workspace::from,
    )))
}

/// Shows a workspace
///
/// With the credits used today; one invocation costs one credit.
#[utoipa::path(
    get,
    path = "/workspaces/{id}",
    operation_id = "show_workspace",
    tag = "Users and workspaces",
    params(("id" = id::Workspace, Path)),
    responses((status = 200, description = "The workspace.", body = Data<Workspace>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn show(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
) -> DataReply<Workspace> {
    data(platform.workspace(&caller, &id).await?.into())
}

/// Lists a workspace's members
///
/// In the order in which they became users. Not part of Pipedream's API.
#[utoipa::path(
    get,
    path = "/workspaces/{id}/members",
    operation_id = "list_members",
    tag = "Users and workspaces",
    params(("id" = id::Workspace, Path), Pages),
    responses((status = 200, description = "A page of members.", body = Paged<User>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn members(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
    Paging(page): Paging<UserId>,
) -> PageReply<User> {
    let page = platform.members(&caller, &id, &page).await?;
    Ok(Json(Paged::new(page, |user| cursor(&user.id), User::from)))
}

/// Adds a member
///
/// By `user_id` or `username`. Every member may do this; adding a member again has no effect. Not part
/// of Pipedream's API.
#[utoipa::path(
    post,
    path = "/workspaces/{id}/members",
    operation_id = "add_member",
    tag = "Users and workspaces",
    params(("id" = id::Workspace, Path)),
    request_body = AddMember,
    responses((status = 200, description = "The user.", body = Data<User>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn add_member(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
    Params(request): Params<AddMember>,
) -> DataReply<User> {
    let user = request.user();
    if user.is_empty() {
        return Err(PlatformError::invalid("user_id", "give `user_id` or `username`").into());
    }
    data(platform.add_member(&caller, &id, &user).await?.into())
}

/// Ends a membership
///
/// Things that the member created in the workspace stay there and pass to another member. The last
/// member cannot be removed. Not part of Pipedream's API.
#[utoipa::path(
    delete,
    path = "/workspaces/{id}/members/{user_id}",
    operation_id = "remove_member",
    tag = "Users and workspaces",
    params(("id" = id::Workspace, Path), ("user_id" = id::User, Path)),
    responses((status = 204, description = "It is ended."), failure::Forbidden, failure::NotFound, failure::Conflict),
)]
pub(crate) async fn remove_member(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathText((id, user_id)): PathText<(String, String)>,
) -> Result<StatusCode, ApiError> {
    let id: WorkspaceId = id
        .parse()
        .map_err(|_| PlatformError::not_found("workspace", id))?;
    let user_id: UserId = user_id
        .parse()
        .map_err(|_| PlatformError::not_found("member", user_id))?;
    platform.remove_member(&caller, &id, &user_id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Lists a workspace's subscriptions
///
/// Subscriptions whose emitter or listener lives in the workspace, and those to the workspace itself,
/// of all users.
#[utoipa::path(
    get,
    path = "/workspaces/{id}/subscriptions",
    operation_id = "list_workspace_subscriptions",
    tag = "Subscriptions",
    params(("id" = id::Workspace, Path)),
    responses((status = 200, description = "The subscriptions.", body = Data<Vec<Subscription>>), failure::Forbidden, failure::NotFound),
)]
pub(crate) async fn subscriptions(
    State(platform): ApiState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<WorkspaceId>,
) -> DataReply<Vec<Subscription>> {
    let subscriptions = platform.workspace_subscriptions(&caller, id).await?;
    data(subscriptions.into_iter().map(Subscription::from).collect())
}
