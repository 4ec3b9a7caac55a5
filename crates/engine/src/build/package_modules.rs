//! The components of an npm package: resolved and downloaded as a build does it, then listed.

use headwater_model::package::PackageReference;

use super::{
    Builder, component_modules,
    failure::{BuildFailure, BuildResult, not_resolved},
    packages,
    sources::Sources,
    specifier::{PackageImport, Specifier},
};
use crate::api::{EngineError, PackageModules, Rejection};

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
        let _permit = self.permit(owner).await?;
        let staging = self.staging().await?;
        let import = import_of(package)?;
        let mut sources = Sources::of(String::new(), staging.path().to_owned());
        sources.packages = vec![import];
        self.answers.drop_stale(&self.tool.deno_dir).await;
        let resolved =
            packages::resolve(&self.tool, staging.path(), &self.answers, &mut sources).await?;
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
            modules: component_modules::of_package(downloaded).await?,
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
