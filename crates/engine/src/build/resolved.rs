//! The releases that a component's packages resolved to, as Deno tells them. Not responsible for resolving
//! (`packages.rs`).

use std::{collections::BTreeMap, path::PathBuf};

use serde::Deserialize;

use super::specifier::PLATFORM;

/// The releases that packages resolved to.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Resolved {
    pub(super) modules: Vec<ResolvedModule>,
    /// Every package, dependencies included, by its id.
    #[serde(default)]
    npm_packages: BTreeMap<String, Downloaded>,
    /// The lock file; `None` when nothing had to be resolved.
    #[serde(skip)]
    pub(super) lock: Option<String>,
    /// The age that the releases have to have, if not all can be the newest.
    #[serde(skip)]
    pub(super) release_age: Option<&'static str>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResolvedModule {
    pub(super) specifier: String,
    pub(super) error: Option<String>,
    npm_package: Option<String>,
}

/// A package in Deno's cache.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Downloaded {
    pub(super) name: String,
    pub(super) version: String,
    /// Its files.
    pub(super) local_path: PathBuf,
    /// The ids of the packages it declares, the optional ones included.
    #[serde(default)]
    pub(super) dependencies: Vec<String>,
}

impl Resolved {
    /// Whether every required package was resolved.
    pub(super) fn is_complete(&self) -> bool {
        let mut modules = self.modules.iter();
        modules.all(|module| {
            module.error.is_none()
                && (module.npm_package.is_some() || !module.specifier.starts_with("npm:"))
        })
    }

    /// The folder of each package, dependencies included.
    pub(super) fn folders(&self) -> Vec<PathBuf> {
        let packages = self.npm_packages.values();
        packages.map(|package| package.local_path.clone()).collect()
    }

    /// The imported package of this name.
    pub(super) fn package(&self, name: &str) -> Option<&Downloaded> {
        self.roots()
            .filter_map(|id| self.by_id(id))
            .find(|package| package.name == name)
    }

    /// The version of the platform package, wherever it is imported; `None` if there is not exactly one.
    pub(super) fn platform(&self) -> Option<&str> {
        let mut packages = self.npm_packages.values();
        let platform = packages.find(|package| package.name == PLATFORM)?;
        let is_only = packages.all(|package| package.name != PLATFORM);
        is_only.then_some(&platform.version)
    }

    /// The ids of all packages, dependencies included.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.npm_packages.keys().map(String::as_str)
    }

    /// The ids of the imported packages.
    pub(super) fn roots(&self) -> impl Iterator<Item = &str> {
        self.modules
            .iter()
            .filter_map(|module| module.npm_package.as_deref())
    }

    /// The package of an id.
    pub(super) fn by_id(&self, id: &str) -> Option<&Downloaded> {
        self.npm_packages.get(id)
    }
}
