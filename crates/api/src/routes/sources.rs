//! `/sources` (spec "Sources"), with reading, patching and running one as extensions.

use axum::{
    extract::{Extension, State},
    http::StatusCode,
};
use headwater_app::{AppError, RunReport};
use headwater_model::id::SourceId;
use tracing::Instrument;

use super::{AppState, CallerExtension, DataReply, data};
use crate::{
    error::ApiError,
    extract::{Params, PathId},
    wire::{DeploySource, RunSource, Source, UpdateSource},
};

/// `POST /sources/`
pub(crate) async fn deploy(
    State(app): AppState,
    Extension(caller): CallerExtension,
    Params(request): Params<DeploySource>,
) -> DataReply<Source> {
    let deployed = to_the_end(async move { app.deploy_source(&caller, request.into()).await });
    data(deployed.await?.into())
}

/// `GET /sources/{id}`
pub(crate) async fn show(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
) -> DataReply<Source> {
    data(app.source(&caller, &id).await?.into())
}

/// `PUT /sources/{id}`
pub(crate) async fn put(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<UpdateSource>,
) -> DataReply<Source> {
    let request = request.put();
    let updated = to_the_end(async move { app.update_source(&caller, &id, request).await });
    data(updated.await?.into())
}

/// `PATCH /sources/{id}`
pub(crate) async fn patch(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<UpdateSource>,
) -> DataReply<Source> {
    let request = request.patch();
    let updated = to_the_end(async move { app.update_source(&caller, &id, request).await });
    data(updated.await?.into())
}

/// `DELETE /sources/{id}`
pub(crate) async fn delete(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
) -> Result<StatusCode, ApiError> {
    to_the_end(async move { app.delete_source(&caller, &id).await }).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `POST /sources/{id}/run`
pub(crate) async fn run(
    State(app): AppState,
    Extension(caller): CallerExtension,
    PathId(id): PathId<SourceId>,
    Params(request): Params<RunSource>,
) -> DataReply<RunReport> {
    data(app.run_source(&caller, &id, request.event).await?)
}

/// Carries a change of a source's life to its end even if the client goes away meanwhile: a handler
/// is dropped then, and would leave the source between two states.
async fn to_the_end<T: Send + 'static>(
    change: impl Future<Output = Result<T, AppError>> + Send + 'static,
) -> Result<T, AppError> {
    match tokio::spawn(change.in_current_span()).await {
        Ok(changed) => changed,
        Err(error) => Err(AppError::Internal(error.to_string())),
    }
}
