//! `/healthz` and `/readyz`, open to everybody: they tell states and counts, no reasons.

use axum::{Json, extract::State, http::StatusCode};

use super::ApiState;
use crate::wire::{
    BuilderCheck, Checks, CodeFolderCheck, Health, Readiness, RuntimeCheck, SecretKeyCheck, Status,
    StoreCheck,
};

/// The advice about a node that saves no components.
const NO_BUILDER: &str = "the bundler that builds components is missing; fetch it with `headwater \
                          runtime install` on a machine that reaches the npm registry";

/// The cause is the operator's, and in the log.
const STORE_HINT: &str = "the store cannot be read or written: check the free space of the data \
                          folder's disk; the node's log has the cause";

const CODE_HINT: &str = "the folder for components' code (DATA_DIR/cache, DATA_DIR/workers) cannot be \
                         written: check the free space of its disk; the node's log has the cause";

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
    // The version is known once the runtime has been started.
    let engine = found.engine;
    let (store, runtime) = (
        status(found.store_error.is_none()),
        status(!engine.runtime_version.is_empty()),
    );
    let code_folder = status(found.code_error.is_none());
    let parts = [store, code_folder, runtime];
    let ready = status(parts.iter().all(|part| *part == Status::Ok));
    let is_fit = found.is_secret_key_fit;
    let secret_key = SecretKeyCheck {
        status: status(is_fit),
        hint: (!is_fit).then_some(
            "stored accounts, webhooks and secret props are encrypted with another secret key: restore \
             that key (DATA_DIR/secret-key, or HEADWATER_SECRET_KEY) and restart, or enter the secrets \
             again",
        ),
    };
    let checks = Checks {
        secret_key,
        store: StoreCheck {
            status: store,
            hint: found.store_error.map(|_| STORE_HINT),
        },
        code_folder: CodeFolderCheck {
            status: code_folder,
            hint: found.code_error.map(|_| CODE_HINT),
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
            status: status(engine.can_build),
            hint: (!engine.can_build).then_some(NO_BUILDER),
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
