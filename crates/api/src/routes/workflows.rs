//! `/workflows/{id}` readers. This node has no workflows yet, so no id names one.

use headwater_app::AppError;
use headwater_model::id::{EventId, WorkflowId};

use crate::{
    error::ApiError,
    extract::{Paging, PathId},
};

/// `GET /workflows/{id}/event_summaries` and `GET /workflows/{id}/$errors/event_summaries`
pub(crate) async fn events(PathId(id): PathId<WorkflowId>, _: Paging<EventId>) -> ApiError {
    AppError::not_found("workflow", id).into()
}
