//! What the node says of itself to machines that watch it.

use std::collections::BTreeMap;

use serde::Serialize;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Unavailable,
}

/// `GET /healthz`.
#[derive(Debug, Serialize)]
pub(crate) struct Health {
    pub(crate) status: Status,
}

/// `GET /readyz`.
#[derive(Debug, Serialize)]
pub(crate) struct Readiness {
    pub(crate) status: Status,
    pub(crate) checks: Checks,
}

#[derive(Debug, Serialize)]
pub(crate) struct Checks {
    pub(crate) store: StoreCheck,
    pub(crate) runtime: RuntimeCheck,
    /// Sandbox layers by name, and whether they are on.
    pub(crate) sandbox: BTreeMap<String, bool>,
}

#[derive(Debug, Serialize)]
pub(crate) struct StoreCheck {
    pub(crate) status: Status,
}

#[derive(Debug, Serialize)]
pub(crate) struct RuntimeCheck {
    pub(crate) status: Status,
    pub(crate) version: String,
    pub(crate) warm_workers: usize,
    pub(crate) source_workers: usize,
    pub(crate) runs: usize,
}
