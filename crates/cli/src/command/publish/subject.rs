//! The components to publish: one, or all that a folder or a package has.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use headwater_engine::build::component_files;
use headwater_model::package::PackageReference;
use serde_json::{Value, json};

use super::undescribed;
use crate::arguments::PublishArguments;
use crate::bundle;
use crate::client::Client;
use crate::reference::ComponentReference;
use crate::source::text;
use crate::usage_error::UsageError;

/// The components of a folder that are built while they are published; of more, each is built at its first use.
pub(super) const BUILT_MAX: usize = 100;

pub(super) enum Subject {
    One(Unit),
    /// Never none.
    Many(Vec<Unit>),
    /// The same of a folder, and the files of it that should be components and are not described.
    Folder(Vec<Unit>, Vec<PathBuf>),
}

/// One component to publish.
pub(super) enum Unit {
    File(PathBuf),
    Url(String),
    /// A file of a package, by its URL and its path in the package.
    Npm {
        url: String,
        path: String,
    },
}

impl Unit {
    /// Its name in an error.
    pub(super) fn name(&self) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Url(url) => url.clone(),
            Self::Npm { path, .. } => path.clone(),
        }
    }

    /// The local file, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Url(_) | Self::Npm { .. } => None,
        }
    }

    pub(super) fn is_of_package(&self) -> bool {
        matches!(self, Self::Npm { .. })
    }

    /// The body to send for it.
    pub(super) async fn body(&self) -> Result<Value> {
        Ok(match self {
            Self::File(path) => bundle::body(path).await?,
            Self::Url(url) | Self::Npm { url, .. } => json!({"component_url": url}),
        })
    }

    /// The body to publish a file unbuilt. The node knows a version by the text of this file alone.
    pub(super) fn unbuilt_body(&self) -> Option<Value> {
        let Self::File(path) = self else {
            return None;
        };
        let name = path.file_name()?.to_str()?;
        let code = std::fs::read_to_string(path).ok()?;
        Some(json!({"files": {name: code}, "components": [name]}))
    }
}

pub(super) async fn find(client: &Client, typed: &str) -> Result<Subject> {
    match ComponentReference::parse(typed)? {
        ComponentReference::Url(url) => Ok(Subject::One(Unit::Url(url.into()))),
        ComponentReference::Npm(package) if package.path.is_some() => {
            Ok(Subject::One(Unit::Url(package.to_string())))
        }
        ComponentReference::Npm(package) => in_package(client, &package).await,
        ComponentReference::BuiltIn(_) => Err(UsageError(format!(
            "{typed} is there for everybody already; nothing of it is to be published"
        ))
        .into()),
        // Only components on this machine can be published, whatever their names.
        ComponentReference::File(_) | ComponentReference::Saved(_) => {
            let path = Path::new(typed);
            match path.is_dir() {
                true => in_folder(path),
                false => Ok(Subject::One(Unit::File(path.to_owned()))),
            }
        }
    }
}

/// A folder whose components are built at their first use.
pub(super) struct Tree<'a> {
    pub(super) folder: &'a Path,
    /// Its components, by their paths within it.
    pub(super) components: Vec<PathBuf>,
}

/// The folder, if it has very many components, or if its components are not to be built now.
pub(super) fn tree(arguments: &PublishArguments) -> Result<Option<Tree<'_>>> {
    let path = Path::new(&arguments.components);
    if !path.is_dir() {
        return match arguments.unbuilt {
            true => Err(UsageError(format!(
                "--unbuilt is for folders, and {} is none",
                path.display()
            ))
            .into()),
            false => Ok(None),
        };
    }
    let components = files_in(path)?;
    let is_tree = arguments.unbuilt || components.len() > BUILT_MAX;
    Ok(is_tree.then_some(Tree {
        folder: path,
        components,
    }))
}

fn files_in(folder: &Path) -> Result<Vec<PathBuf>> {
    component_files(folder).with_context(|| format!("cannot read the folder {}", folder.display()))
}

fn in_folder(folder: &Path) -> Result<Subject> {
    let files = files_in(folder)?;
    let unsaid = undescribed::undescribed(folder, &files)?;
    if files.is_empty() && unsaid.is_empty() {
        bail!(
            "there is no component in {}: a component file has a default export and writes out its \
             `key` and `version`",
            folder.display()
        );
    }
    let units = files.iter().map(|file| Unit::File(folder.join(file)));
    let unsaid = unsaid.iter().map(|file| folder.join(file));
    Ok(Subject::Folder(units.collect(), unsaid.collect()))
}

async fn in_package(client: &Client, package: &PackageReference) -> Result<Subject> {
    let query = [("specifier", package.to_string())];
    let listed = client.get_slowly(&["packages", "modules"], &query).await?;
    let specifier = text(&listed, "specifier");
    let modules = listed["modules"].as_array().into_iter().flatten();
    let units = modules.filter_map(Value::as_str).map(|path| Unit::Npm {
        url: format!("{specifier}/{path}"),
        path: path.to_owned(),
    });
    let units: Vec<_> = units.collect();
    if units.is_empty() {
        bail!(
            "{specifier} has no components in `sources` and `actions`; \
             publish a file of it as {specifier}/path"
        );
    }
    Ok(Subject::Many(units))
}
