//! What the node says of itself to machines that watch it.

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;

/// Whether something answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Status {
    Ok,
    Unavailable,
}

/// The node serves.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Health {
    pub(crate) status: Status,
}

/// Whether the node can do its work.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Readiness {
    pub(crate) status: Status,
    pub(crate) checks: Checks,
}

/// What the node needs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Checks {
    pub(crate) store: StoreCheck,
    pub(crate) runtime: RuntimeCheck,
    /// Sandbox layers by name, and whether they are on.
    pub(crate) sandbox: BTreeMap<String, bool>,
}

/// Whether the store answers.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StoreCheck {
    pub(crate) status: Status,
}

/// Whether components can run.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RuntimeCheck {
    pub(crate) status: Status,
    pub(crate) version: String,
    pub(crate) warm_workers: usize,
    pub(crate) source_workers: usize,
    pub(crate) runs: usize,
    /// Host names that components reach elsewhere than they resolve to.
    pub(crate) routes: usize,
    /// Certificates that are trusted besides those of the public authorities.
    pub(crate) ca_certificates: usize,
}
