//! The platform package's module of its own, bundled once for all components of one version of the package and of what
//! it needs. A component that imports no other package is bundled without the package, and takes its exports from there.
//!
//! Not responsible for the texts of such modules (`platform_module.rs`).

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::Arc,
};

use parking_lot::Mutex;
use serde_json::json;

use super::{
    bundle::{Bundled, Bundling, files},
    failure::{BuildResult, disk},
    layout::{APART, PLATFORM_IMPORTER, PLATFORM_STUB, STUB_CONFIG},
    lone, markers,
    packages::import_map,
    platform_module,
    resolved::Resolved,
};
use crate::{artifact, shared_modules};

/// Versions that are kept in memory, of some 3 MiB each.
const KEPT: usize = 2;
/// The name of the component's module for the bundler.
const COMPONENT: &str = "component";
/// The arguments of Deno for bundling without packages.
const WITHOUT_PACKAGES: &[&str] = &["--config", STUB_CONFIG, "--no-lock"];

/// The platform package as a module.
#[derive(Debug)]
pub(super) struct SharedPlatform {
    text: String,
    map: String,
    /// The function in it that evaluates the package.
    function: String,
    /// The files in it.
    reached: Vec<PathBuf>,
}

/// The modules that were bundled last, by the ids of the packages in them.
#[derive(Debug, Default)]
pub(super) struct SharedPlatforms {
    known: Mutex<VecDeque<(Vec<String>, Arc<SharedPlatform>)>>,
}

impl SharedPlatforms {
    fn get(&self, ids: &[String]) -> Option<Arc<SharedPlatform>> {
        let known = self.known.lock();
        let (_, platform) = known.iter().find(|(known, _)| known == ids)?;
        Some(Arc::clone(platform))
    }

    fn add(&self, ids: Vec<String>, platform: Arc<SharedPlatform>) {
        let mut known = self.known.lock();
        known.truncate(KEPT - 1);
        known.push_front((ids, platform));
    }
}

impl Bundling<'_> {
    /// Bundles a component that imports no package but the platform package, if any, without it into `output`. `None` if
    /// the component is not of that kind, or cannot be bundled in this way.
    pub(super) async fn without_platform(
        &self,
        known: &SharedPlatforms,
        resolved: &Resolved,
        output: &Path,
    ) -> BuildResult<Option<Bundled>> {
        let shared = match (&*self.sources.packages, resolved.platform()) {
            ([], _) if self.sources.is_lone => None,
            ([package], Some(version)) if lone::is_platform(package) => {
                let Some(shared) = self.shared_platform(known, resolved, version).await? else {
                    return Ok(None);
                };
                Some(shared)
            }
            _ => return Ok(None),
        };
        let Some(file) = self.bundle_own().await? else {
            return Ok(None);
        };
        let mut bundle = self.read(&file).await?;
        if markers::unbundlable(&bundle.code).is_some() {
            return Ok(None);
        }
        let mut reached = files(&bundle, &file);
        if let Some(shared) = shared {
            let specifier = shared_modules::specifier(&shared.text, &shared.map);
            let import =
                platform_module::import_for_stub(&bundle.code, &shared.function, &specifier);
            if let Some(import) = import {
                shared_modules::write(output, &shared.text, &shared.map)
                    .map_err(|error| disk(output, &error))?;
                bundle.begin_with(&import);
                reached.extend(shared.reached.iter().cloned());
            }
        }
        self.write(&output.join(artifact::ENTRY), bundle).await?;
        Ok(Some(Bundled {
            obstacle: None,
            reached: Some(reached),
        }))
    }

    /// The module of the resolved platform package; `None` if it cannot be one.
    async fn shared_platform(
        &self,
        known: &SharedPlatforms,
        resolved: &Resolved,
        version: &str,
    ) -> BuildResult<Option<Arc<SharedPlatform>>> {
        let ids = Vec::from_iter(resolved.ids().map(str::to_owned));
        if let Some(platform) = known.get(&ids) {
            return Ok(Some(platform));
        }
        let importer = self.folder.join(PLATFORM_IMPORTER);
        let written = tokio::fs::write(&importer, platform_module::source(version)).await;
        written.map_err(|error| disk(&importer, &error))?;
        let Some(split) = self.split(&importer, version).await? else {
            return Ok(None);
        };
        if markers::unbundlable(&split.common).is_some() {
            return Ok(None);
        }
        let function = platform_module::evaluating_function(&split.shared.code).map(str::to_owned);
        let (text, map) = self.finished(split.shared, shared_modules::SOURCE_MAP);
        let Some(function) = function else {
            return Ok(None);
        };
        let platform = Arc::new(SharedPlatform {
            text,
            map,
            function,
            reached: split.reached,
        });
        known.add(ids, Arc::clone(&platform));
        Ok(Some(platform))
    }

    /// Bundles the own modules, with the stub in place of the platform package, and returns the file.
    async fn bundle_own(&self) -> BuildResult<Option<PathBuf>> {
        let folder = self.folder.join(APART).join("own");
        let created = tokio::fs::create_dir_all(&folder).await;
        created.map_err(|error| disk(&folder, &error))?;
        let stub = self.folder.join(PLATFORM_STUB);
        let written = tokio::fs::write(&stub, platform_module::stub()).await;
        written.map_err(|error| disk(&stub, &error))?;
        let entry = self.sources.entry.as_path();
        let file = folder.join(COMPONENT).with_extension("js");
        let step = if self.sources.is_lone {
            let Ok(entry) = entry.strip_prefix(self.folder) else {
                return Ok(None);
            };
            let arguments = lone::arguments(entry, &folder, &self.sources.packages);
            self.tool
                .read_files(self.folder, &folder, arguments)
                .await?
        } else {
            self.write_stub_config().await?;
            let to_file = ["--output".into(), file.clone().into()];
            self.bundle(WITHOUT_PACKAGES, to_file, &[entry]).await?
        };
        Ok(step.success.then_some(file))
    }

    /// Writes the import map that leads to the stub.
    async fn write_stub_config(&self) -> BuildResult<()> {
        let imports = import_map(self.folder, self.sources, |_| format!("./{PLATFORM_STUB}"));
        let config = json!({ "imports": imports, "nodeModulesDir": "none" });
        let file = self.folder.join(STUB_CONFIG);
        let written = tokio::fs::write(&file, config.to_string()).await;
        written.map_err(|error| disk(&file, &error))
    }
}
