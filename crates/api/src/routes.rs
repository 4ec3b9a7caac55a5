//! The operations, one file per resource: take typed parameters, call one use case, show its result.

pub(crate) mod accounts;
pub(crate) mod apps;
pub(crate) mod audit;
pub(crate) mod auto_subscriptions;
pub(crate) mod causes;
pub(crate) mod components;
pub(crate) mod connect;
pub(crate) mod data_stores;
pub(crate) mod deliveries;
pub(crate) mod delivery_search;
pub(crate) mod docs;
pub(crate) mod event_replay;
pub(crate) mod event_search;
pub(crate) mod event_send;
pub(crate) mod event_views;
pub(crate) mod events;
pub(crate) mod feeds;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod keys;
pub(crate) mod nodes;
pub(crate) mod orgs;
pub(crate) mod registry;
pub(crate) mod run_replay;
pub(crate) mod run_search;
pub(crate) mod runs;
pub(crate) mod sessions;
pub(crate) mod settings;
pub(crate) mod source_deployments;
pub(crate) mod sources;
pub(crate) mod subscriptions;
pub(crate) mod usage;
pub(crate) mod users;
pub(crate) mod variables;
pub(crate) mod waits;
pub(crate) mod webhooks;
pub(crate) mod workflow_deployments;
pub(crate) mod workflow_runs;
pub(crate) mod workflows;
pub(crate) mod workspaces;

use std::sync::Arc;

use axum::{
    Json,
    extract::{Extension, State},
};
use headwater_platform::{Caller, Platform, PlatformError};

use crate::{
    error::ApiError,
    wire::{Data, Paged},
};

/// The platform.
type ApiState = State<Arc<Platform>>;
/// The caller, as authentication found out.
type CallerExtension = Extension<Arc<Caller>>;
/// `{data: <object>}`.
type DataReply<T> = Result<Json<Data<T>>, ApiError>;
/// `{page_info, data: [<object>]}`.
type PageReply<T> = Result<Json<Paged<T>>, ApiError>;

fn data<T>(data: T) -> DataReply<T> {
    Ok(Json(Data { data }))
}

/// A parameter that must be there and not be empty.
fn required(param: &str, value: Option<String>) -> Result<String, PlatformError> {
    let value = value.filter(|value| !value.is_empty());
    value.ok_or_else(|| PlatformError::invalid(param, format!("`{param}` is required")))
}
