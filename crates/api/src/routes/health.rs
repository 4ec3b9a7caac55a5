//! `/healthz` and `/readyz`, open to everybody: they tell states and counts, no reasons.

use axum::{Json, extract::State, http::StatusCode};

use super::AppState;
use crate::wire::{Checks, Health, Readiness, RuntimeCheck, Status, StoreCheck};

/// Says that the node serves
#[utoipa::path(
    get,
    path = "/healthz",
    operation_id = "healthz",
    tag = "Node",
    security(()),
    responses((status = 200, description = "It does.", body = Health)),
)]
pub(crate) async fn healthz() -> Json<Health> {
    Json(Health { status: Status::Ok })
}

/// Says whether the node can do its work
///
/// Whether its store and its runtime answer.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readyz",
    tag = "Node",
    security(()),
    responses((status = 200, description = "It can.", body = Readiness), (status = 503, description = "It cannot.", body = Readiness)),
)]
pub(crate) async fn readyz(State(app): AppState) -> (StatusCode, Json<Readiness>) {
    let found = app.readiness().await;
    if let Some(reason) = &found.store_error {
        tracing::warn!(reason, "the store does not answer");
    }
    // The version is known once the runtime has been started.
    let engine = found.engine;
    let (store, runtime) = (
        status(found.store_error.is_none()),
        status(!engine.runtime_version.is_empty()),
    );
    let ready = status(store == Status::Ok && runtime == Status::Ok);
    let checks = Checks {
        store: StoreCheck { status: store },
        runtime: RuntimeCheck {
            status: runtime,
            version: engine.runtime_version,
            warm_workers: engine.warm_workers,
            source_workers: engine.source_workers,
            runs: engine.runs,
            routes: engine.routes,
            ca_certificates: engine.ca_certificates,
        },
        sandbox: engine.sandbox,
    };
    let code = match ready {
        Status::Ok => StatusCode::OK,
        Status::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    };
    (
        code,
        Json(Readiness {
            status: ready,
            checks,
        }),
    )
}

fn status(good: bool) -> Status {
    match good {
        true => Status::Ok,
        false => Status::Unavailable,
    }
}
