//! `/healthz` and `/readyz`, open to everybody: they tell states and counts, no reasons.

use axum::{Json, extract::State, http::StatusCode};

use super::ApiState;
use crate::wire::{
    BuilderCheck, Checks, CodeFolderCheck, Health, Readiness, RuntimeCheck, SecretKeyCheck, Status,
    StoreCheck,
};

/// Checks that the node serves
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

/// Checks that the node is ready
///
/// Ready means that store and runtime answer, and that accepted work and the code of components can be written to disk.
#[utoipa::path(
    get,
    path = "/readyz",
    operation_id = "readyz",
    tag = "Node",
    security(()),
    responses((status = 200, description = "It can.", body = Readiness), (status = 503, description = "It cannot.", body = Readiness)),
)]
pub(crate) async fn readyz(State(platform): ApiState) -> (StatusCode, Json<Readiness>) {
    let found = platform.readiness().await;
    if let Some(reason) = &found.store_error {
        tracing::warn!(reason, "the store cannot be read or written");
    }
    if let Some(reason) = &found.code_error {
        tracing::warn!(reason, "the folder for components' code cannot be written");
    }
    let store_hint = found.store_hint();
    let code_hint = found.code_hint();
    let builder_hint = found.builder_hint();
    let secret_key_hint = found.secret_key_hint();
    let runtime = status(found.runtime_hint());
    let parts = [status(store_hint), status(code_hint), runtime];
    let ready = match parts.iter().all(|part| *part == Status::Ok) {
        true => Status::Ok,
        false => Status::Unavailable,
    };
    let engine = found.engine;
    let checks = Checks {
        store: StoreCheck {
            status: status(store_hint),
            hint: store_hint,
        },
        code_folder: CodeFolderCheck {
            status: status(code_hint),
            hint: code_hint,
        },
        runtime: RuntimeCheck {
            status: runtime,
            version: engine.runtime_version,
            warm_workers: engine.warm_workers,
            source_workers: engine.source_workers,
            runs: engine.runs,
            routes: engine.routes,
            ca_certificates: engine.ca_certificates,
        },
        builder: BuilderCheck {
            status: status(builder_hint),
            hint: builder_hint,
        },
        secret_key: SecretKeyCheck {
            status: status(secret_key_hint),
            hint: secret_key_hint,
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

/// A part that needs no next step is well.
fn status(hint: Option<&str>) -> Status {
    match hint {
        None => Status::Ok,
        Some(_) => Status::Unavailable,
    }
}
