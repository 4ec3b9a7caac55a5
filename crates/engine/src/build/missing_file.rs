//! An import of a file that its package does not have: advice on the files it has. Not responsible for detecting it.

use super::{
    bundle::NO_PACKAGE,
    component_modules,
    failure::{BuildFailure, not_resolved},
    resolved::Resolved,
    specifier::PackageImport,
};

/// Files that a message names.
const NAMED_MAX: usize = 20;

/// The failure; if a missing file of a package caused it, with the files that the package has instead.
pub(super) async fn explained(
    failure: BuildFailure,
    packages: &[PackageImport],
    resolved: &Resolved,
) -> BuildFailure {
    let BuildFailure::Rejected(rejection) = &failure else {
        return failure;
    };
    let message = &rejection.error.message;
    let missing = packages.iter().find(|package| {
        !package.path.is_empty()
            && message.starts_with(NO_PACKAGE)
            && message.contains(&format!("'{}'", package.resolvable()))
    });
    let Some((import, package)) =
        missing.and_then(|import| Some((import, resolved.package(&import.name)?)))
    else {
        return failure;
    };
    let path = import.path.trim_start_matches('/');
    let mut told = format!(
        "`{}` {} has no file `{path}`",
        package.name, package.version
    );
    // Files of the same kind first: sources if a source was imported.
    let kind = path.split('/').next().unwrap_or_default();
    let mut components = component_modules::of_package(package)
        .await
        .unwrap_or_default();
    components.sort_by_key(|file| !file.starts_with(kind));
    if !components.is_empty() {
        let more = components.len().saturating_sub(NAMED_MAX);
        components.truncate(NAMED_MAX);
        told.push_str(&format!("; its components: {}", components.join(", ")));
        if more > 0 {
            told.push_str(&format!(", and {more} more"));
        }
    }
    not_resolved(told)
}
