//! The component that evaluates the expressions of blocks: one without any code of its own.

use std::sync::OnceLock;

use headwater_engine::Artifact;

/// The artifact of the evaluator, which every worker has room for.
pub(super) fn artifact() -> &'static Artifact {
    static ARTIFACT: OnceLock<Artifact> = OnceLock::new();
    ARTIFACT.get_or_init(Artifact::without_code)
}
