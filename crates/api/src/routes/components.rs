//! `/components` (spec "Components").

use axum::extract::{Extension, Path, State};
use headwater_app::{AppError, ComponentRef};

use super::{AppState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::Params,
    wire::{Component, ComponentScope, SaveComponent},
};

/// `POST /components`
pub(crate) async fn save(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Params(request): Params<SaveComponent>,
) -> DataReply<Component> {
    let (input, workspace_id) = request.into_parts();
    data(
        app.save_component(&caller, &input, workspace_id)
            .await?
            .into(),
    )
}

/// `GET /components/{key|id}`
pub(crate) async fn show(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Path(reference): Path<String>,
    Params(scope): Params<ComponentScope>,
) -> DataReply<Component> {
    let reference = ComponentRef::parse(&reference);
    data(
        app.component(&caller, &reference, scope.workspace_id())
            .await?
            .into(),
    )
}

/// `GET /components/registry/{key}`: this node has no registry yet, so no key is in it.
pub(crate) async fn registry(Path(key): Path<String>) -> ApiError {
    AppError::not_found("registry component", key).into()
}
