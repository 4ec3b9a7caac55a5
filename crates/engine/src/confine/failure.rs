//! The steps of the launcher that fail, by name.

/// A step that failed.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {reason}")]
pub(super) struct Failure {
    step: String,
    reason: String,
}

/// Names the step of a failure.
pub(super) trait Step<T> {
    fn step(self, step: impl FnOnce() -> String) -> Result<T, Failure>;
}

impl<T, E: std::fmt::Display> Step<T> for Result<T, E> {
    fn step(self, step: impl FnOnce() -> String) -> Result<T, Failure> {
        self.map_err(|error| Failure {
            step: step(),
            reason: error.to_string(),
        })
    }
}
