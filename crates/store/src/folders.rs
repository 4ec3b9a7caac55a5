//! Components that are published as files of a folder and built at their first use: the folder's texts, each kept once,
//! and the step from published to built.

use std::collections::BTreeMap;

use async_trait::async_trait;
use headwater_model::id::ComponentId;

use crate::{
    catalog::{ArtifactBytes, SavedComponent},
    error::StoreError,
    registry::{Publication, Published},
};

/// Components about to be published, and the files that they are built from.
#[derive(Debug, Clone)]
pub struct FolderPublication {
    /// Names the folder's content.
    pub hash: String,
    /// The files.
    pub files: Vec<FolderFile>,
    /// Version ranges by package, for imports without one.
    pub ranges: BTreeMap<String, String>,
    /// Each with an empty artifact, and the path of its file.
    pub components: Vec<(String, Publication)>,
}

/// A file of a folder.
#[derive(Debug, Clone)]
pub struct FolderFile {
    /// Its path within the folder.
    pub path: String,
    /// The SHA-256 of its text, hexadecimal.
    pub hash: String,
    /// Its text.
    pub text: String,
}

/// The code of a component that is a folder's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderCode {
    /// The path of the component's file.
    pub entry: String,
    /// The texts of the folder's files by their paths.
    pub files: BTreeMap<String, String>,
    /// Version ranges by package, for imports without one.
    pub ranges: BTreeMap<String, String>,
}

/// Published components of folders.
#[async_trait]
pub trait Folders {
    /// Publishes each of the components as [`Registry::publish`](crate::Registry::publish) does, with its folder.
    /// MUST keep each text once, whatever folders have it
    /// (`conformance::folders::components_of_a_folder_are_published_before_they_are_built`).
    async fn publish_folder(&self, folder: FolderPublication)
    -> Result<Vec<Published>, StoreError>;

    /// The files that a component was published with, built or not; `None` if it was published or saved alone.
    async fn folder_code(&self, id: &ComponentId) -> Result<Option<FolderCode>, StoreError>;

    /// Writes the artifact, lock and description of a component that was published unbuilt, and returns it as it is
    /// now.
    /// MUST change nothing when it is built already (`conformance::folders::a_component_is_built_once`).
    async fn complete_component(
        &self,
        built: SavedComponent,
        artifact: ArtifactBytes,
    ) -> Result<SavedComponent, StoreError>;
}
