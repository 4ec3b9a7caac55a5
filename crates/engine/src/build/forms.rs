//! The two forms of an archive: a single bundled module if that works, else the installed packages beside the
//! component's own module. Not responsible for creating either.

use std::{path::Path, sync::Arc};

use headwater_model::outcome::ComponentError;

use super::{
    Builder,
    bundle::{Bundled, Bundling, NO_EXPORT},
    describe::{self, Evaluated},
    failure::{BuildFailure, BuildResult, RESOLVE_ERROR, blocking, disk, not_resolved, rejection},
    node_modules,
    resolved::Resolved,
    sources::Sources,
    unsuitable::{self, Unsuitable},
};
use crate::{
    api::{Artifact, Build, BuildStage, EngineError, Rejection},
    artifact, factory,
};

impl Builder {
    /// Describes the bundle, and tries the node_modules form where code does not work in a bundle.
    pub(super) async fn archive_and_describe(
        &self,
        bundling: &Bundling<'_>,
        bundled: Bundled,
        resolved: Arc<Resolved>,
    ) -> BuildResult<Build> {
        let lock = resolved.lock.clone();
        let (bundled, suspects) = suspects(resolved, bundled).await?;
        let why = match bundled.obstacle {
            None => match self.whole(bundling, lock).await {
                Err(BuildFailure::Rejected(rejection))
                    if may_work_unbundled(bundling.sources, &rejection) =>
                {
                    rejection.error.message
                }
                built => return built.map_err(|failure| blame(failure, &suspects)),
            },
            Some(reason) if bundling.sources.packages.is_empty() => {
                return Err(not_resolved(bundling.readable(&reason)));
            }
            Some(reason) => reason,
        };
        tracing::debug!(reason = why, "the component's packages cannot be bundled");
        let built = self.beside_packages(bundling).await;
        built.map_err(|failure| match failure {
            BuildFailure::Rejected(rejection) if is_missing_export(&rejection, &why) => {
                not_resolved(bundling.readable(&why))
            }
            failure => blame(failure, &suspects),
        })
    }

    async fn whole(&self, bundling: &Bundling<'_>, lock: Option<String>) -> BuildResult<Build> {
        let lock = lock.unwrap_or_else(|| "{\"version\":\"5\"}\n".into());
        let folder = bundling.folder.join("bundle");
        self.finished(bundling, &folder, lock).await
    }

    async fn beside_packages(&self, bundling: &Bundling<'_>) -> BuildResult<Build> {
        let modules = bundling.folder.join("modules");
        bundling.without_packages(&modules).await?;
        let lock = node_modules::install(&self.tool, &modules, bundling.sources).await?;
        self.finished(bundling, &modules, lock).await
    }

    async fn finished(
        &self,
        bundling: &Bundling<'_>,
        folder: &Path,
        lock: String,
    ) -> BuildResult<Build> {
        self.check_size(folder).await?;
        let (packed, described) = tokio::join!(
            pack(folder),
            self.describe(folder, bundling.sources.is_step)
        );
        let (mut artifact, evaluated) = (packed?, described?);
        if evaluated.only_as_module {
            factory::forbid(folder).map_err(|error| disk(folder, &error))?;
            artifact = pack(folder).await?;
        }
        Ok(Build {
            description: describe::checked(evaluated.description, bundling.sources.is_step)?,
            code: bundling.sources.code.clone(),
            artifact,
            lock,
        })
    }

    async fn check_size(&self, folder: &Path) -> BuildResult<()> {
        let looked = folder.to_owned();
        let size = blocking(folder, move || artifact::size(&looked)).await?;
        let limit = self.code_bytes_max;
        if size <= limit {
            return Ok(());
        }
        let (size, limit) = (size >> 20, limit >> 20);
        let message = format!(
            "the component and its packages take {size} MiB, more than the {limit} MiB allowed"
        );
        Err(rejection(BuildStage::Resolve, "SizeError", message))
    }

    async fn describe(&self, folder: &Path, is_step: bool) -> BuildResult<Evaluated> {
        let described = self.describer.describe(folder).await?;
        let failed = |error| Rejection {
            stage: BuildStage::Evaluate,
            error: describe::undescribed(error, is_step),
        };
        Ok(described.map_err(failed)?)
    }
}

async fn pack(folder: &Path) -> BuildResult<Artifact> {
    let packing = folder.to_owned();
    blocking(folder, move || artifact::pack(&packing)).await
}

/// The packages that may not work here. Refuses those that certainly do not.
async fn suspects(
    resolved: Arc<Resolved>,
    bundled: Bundled,
) -> BuildResult<(Bundled, Vec<Unsuitable>)> {
    let looked = tokio::task::spawn_blocking(move || {
        let mut candidates = unsuitable::candidates(&resolved);
        unsuitable::refuse(&mut candidates, bundled.reached.as_deref())?;
        Ok((bundled, candidates))
    });
    let lost = |error: tokio::task::JoinError| EngineError::Unavailable {
        context: "looking at a component's packages".into(),
        reason: error.to_string(),
    };
    looked.await.map_err(lost)?
}

/// Whether bundling may have caused the failed evaluation: something was not found, or may not be read.
fn may_work_unbundled(sources: &Sources, rejection: &Rejection) -> bool {
    let signs = [
        "Cannot find",
        "Could not find",
        "ENOENT",
        "No such file",
        "is not supported",
        "Requires read access",
        "__dirname",
        "NOT_FOUND",
    ];
    let error = &rejection.error;
    let text = format!("{} {} {:?}", error.name, error.message, error.code);
    rejection.stage == BuildStage::Evaluate
        && !sources.packages.is_empty()
        && signs.iter().any(|sign| text.contains(sign))
}

/// Whether both forms lack the same export; the bundler reports the line.
fn is_missing_export(rejection: &Rejection, why: &str) -> bool {
    why.starts_with(NO_EXPORT)
        && rejection
            .error
            .message
            .contains("does not provide an export")
}

/// Names the package behind a failed evaluation or installation that components cannot use.
fn blame(failure: BuildFailure, suspects: &[Unsuitable]) -> BuildFailure {
    let BuildFailure::Rejected(mut rejection) = failure else {
        return failure;
    };
    let suspect = match rejection.stage {
        BuildStage::Evaluate => unsuitable::blamed(suspects, &rejection.error),
        // A package that could not be installed is most often made for other machines.
        BuildStage::Resolve if rejection.error.name == RESOLVE_ERROR => suspects.first(),
        BuildStage::Resolve | BuildStage::Fetch => None,
    };
    if let Some(suspect) = suspect {
        let error: &mut ComponentError = &mut rejection.error;
        error.message = format!("{} ({})", suspect.complaint(), error.message);
    }
    BuildFailure::Rejected(rejection)
}
