//! The two ways in which a build ends early, so that `?` serves both.

use std::{io, path::Path};

use headwater_model::outcome::ComponentError;

use crate::{
    api::{BuildStage, EngineError, Rejection},
    host_failure,
};

pub(super) type BuildResult<T> = Result<T, BuildFailure>;

/// The name of the error about an import that leads nowhere.
pub(super) const RESOLVE_ERROR: &str = "ResolveError";

/// The cause that stopped a build.
#[derive(Debug)]
pub(super) enum BuildFailure {
    /// The component's fault; boxed because it is large and rare.
    Rejected(Box<Rejection>),
    /// The host's.
    Host(EngineError),
}

impl From<Rejection> for BuildFailure {
    fn from(rejection: Rejection) -> Self {
        Self::Rejected(Box::new(rejection))
    }
}

impl From<EngineError> for BuildFailure {
    fn from(error: EngineError) -> Self {
        Self::Host(error)
    }
}

/// A rejection without a stack, with a message of the platform.
pub(super) fn rejection(stage: BuildStage, name: &str, message: impl Into<String>) -> BuildFailure {
    let error = ComponentError {
        name: name.to_owned(),
        message: message.into(),
        ..ComponentError::default()
    };
    Rejection { stage, error }.into()
}

/// The code cannot be fetched.
pub(super) fn not_fetched(message: impl Into<String>) -> BuildFailure {
    rejection(BuildStage::Fetch, "FetchError", message)
}

/// An import leads nowhere.
pub(super) fn not_resolved(message: impl Into<String>) -> BuildFailure {
    rejection(BuildStage::Resolve, RESOLVE_ERROR, message)
}

/// Works on files, off the async threads.
pub(super) async fn blocking<T: Send + 'static>(
    path: &Path,
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> BuildResult<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(io::Error::other)
        .and_then(|done| done)
        .map_err(|error| disk(path, &error))
}

/// A failure of the disk.
pub(super) fn disk(path: &Path, error: &io::Error) -> BuildFailure {
    // The path goes to the operator's log only; the reason is shown to the component's author.
    tracing::warn!(path = %path.display(), %error, "building a component failed");
    BuildFailure::Host(EngineError::Unavailable {
        context: "building a component".into(),
        reason: host_failure::in_cache(error),
    })
}
