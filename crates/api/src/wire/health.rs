//! Health and readiness, for machines that watch the node.

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

/// The checks of all that the node needs.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Checks {
    pub(crate) store: StoreCheck,
    pub(crate) code_folder: CodeFolderCheck,
    pub(crate) runtime: RuntimeCheck,
    pub(crate) builder: BuilderCheck,
    pub(crate) secret_key: SecretKeyCheck,
    /// Sandbox layers by name, and whether they are on.
    pub(crate) sandbox: BTreeMap<String, bool>,
}

/// Whether the store answers and can be written.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StoreCheck {
    pub(crate) status: Status,
    /// The place to look at when it is unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'static str>,
}

/// Whether the folder for components' code can be written: without it no worker starts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct CodeFolderCheck {
    pub(crate) status: Status,
    /// The place to look at when it is unavailable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'static str>,
}

/// Whether components can be saved. Existing sources run in any case, so the node can be ready without
/// it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct BuilderCheck {
    pub(crate) status: Status,
    /// The next step, while it is not ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'static str>,
}

/// Whether the node's secret key decrypts the stored secrets. The node can be ready without it.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SecretKeyCheck {
    pub(crate) status: Status,
    /// The next step, where something does not open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) hint: Option<&'static str>,
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
