//! The components of an npm package: resolved and downloaded as a build does it, then listed.

use std::{collections::BTreeMap, path::Path};

use headwater_model::package::PackageReference;

use super::{
    Builder,
    component_files::component_files,
    failure::{BuildFailure, BuildResult, disk, not_resolved},
    packages::{self, Downloaded},
    sources::Sources,
    specifier::{PackageImport, Specifier},
};
use crate::api::{EngineError, PackageModules, Rejection};

/// The folders in which registry packages have their components.
const FOLDERS: &[&str] = &["sources", "actions"];
/// The folder in which packages written in TypeScript have the modules that can be run.
const COMPILED: &str = "dist/";

impl Builder {
    /// Resolves a package and lists its modules that look like components.
    ///
    /// # Errors
    /// [`EngineError`] when the host or the package registry failed; a package that does not exist
    /// is `Ok(Err(Rejection))`.
    pub async fn package_modules(
        &self,
        package: &PackageReference,
        owner: &str,
    ) -> Result<Result<PackageModules, Rejection>, EngineError> {
        match self.list_package(package, owner).await {
            Ok(modules) => Ok(Ok(modules)),
            Err(BuildFailure::Rejected(rejection)) => Ok(Err(*rejection)),
            Err(BuildFailure::Host(error)) => Err(error),
        }
    }

    async fn list_package(
        &self,
        package: &PackageReference,
        owner: &str,
    ) -> BuildResult<PackageModules> {
        let _turn = self.turn(owner).await?;
        let staging = self.staging().await?;
        let import = import_of(package)?;
        let mut sources = Sources {
            code: String::new(),
            entry: staging.path().to_owned(),
            packages: vec![import],
            addresses: BTreeMap::new(),
            origins: BTreeMap::new(),
            ranges: BTreeMap::new(),
            release_age: None,
        };
        self.answers.drop_stale(&self.tool.deno_dir).await;
        let resolved = packages::resolve(&self.tool, staging.path(), &mut sources).await?;
        let Some(downloaded) = resolved.package(&package.name) else {
            return Err(not_resolved(format!(
                "`{package}` is not a package of the npm registry"
            )));
        };
        Ok(PackageModules {
            package: PackageReference {
                name: downloaded.name.clone(),
                version: Some(downloaded.version.clone()),
                path: None,
            },
            modules: modules(downloaded).await?,
        })
    }
}

fn import_of(package: &PackageReference) -> BuildResult<PackageImport> {
    let whole = PackageReference {
        path: None,
        ..package.clone()
    };
    match Specifier::parse(&whole.to_string()) {
        Specifier::Package(import) => Ok(import),
        _ => Err(not_resolved(format!(
            "`{whole}` is not the name of a package"
        ))),
    }
}

pub(super) async fn modules(package: &Downloaded) -> BuildResult<Vec<String>> {
    let folder = package.local_path.clone();
    let found = tokio::task::spawn_blocking(move || component_files(&folder)).await;
    let files = found
        .map_err(std::io::Error::other)
        .and_then(|files| files)
        .map_err(|error| disk(&package.local_path, &error))?;
    let paths = files.iter().filter(|path| is_filed(path));
    let paths: Vec<_> = paths.filter_map(|path| path.to_str()).collect();
    let original = |path: &&&str| !is_compiled(path, &paths);
    Ok(paths
        .iter()
        .filter(original)
        .map(|path| (*path).to_owned())
        .collect())
}

/// Tells whether a file is in one of the folders that registry packages have.
fn is_filed(path: &Path) -> bool {
    let mut folders = path.parent().into_iter().flat_map(Path::components);
    folders.any(|folder| FOLDERS.iter().any(|known| folder.as_os_str() == *known))
}

/// Tells whether a file of TypeScript is there as JavaScript, too.
fn is_compiled(path: &str, paths: &[&str]) -> bool {
    let Some((stem, "ts" | "mts")) = path.rsplit_once('.') else {
        return false;
    };
    ["mjs", "js"]
        .iter()
        .any(|ending| paths.contains(&&*format!("{COMPILED}{stem}.{ending}")))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{is_compiled, is_filed};

    #[test]
    fn components_are_in_the_folders_of_sources_and_actions() {
        for (path, expected) in [
            ("sources/new-row/new-row.mjs", true),
            ("actions/send.mjs", true),
            ("dist/sources/a/a.mjs", true),
            ("lib/a.mjs", false),
            ("sources.mjs", false),
        ] {
            assert_eq!(is_filed(Path::new(path)), expected, "{path}");
        }
    }

    #[test]
    fn what_was_compiled_stands_for_its_source() {
        let paths = ["actions/a/a.ts", "actions/b/b.ts", "dist/actions/a/a.mjs"];
        let kept = paths.iter().filter(|path| !is_compiled(path, &paths));
        assert_eq!(
            kept.collect::<Vec<_>>(),
            [&"actions/b/b.ts", &"dist/actions/a/a.mjs"]
        );
    }
}
