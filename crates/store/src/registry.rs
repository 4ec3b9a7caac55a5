//! The registry: components that are published, for every user of the node, and the listing of
//! components.

use async_trait::async_trait;
use headwater_model::{
    component::{ComponentType, Description},
    hash::CodeHash,
    id::{ComponentId, UserId},
    page::{Page, PageRequest},
    time::EpochSeconds,
    version::ReleaseVersion,
};

use crate::{
    catalog::{ArtifactBytes, SavedComponent},
    error::StoreError,
    tenants::Owner,
};

/// A component about to be published, with its artifact.
#[derive(Debug, Clone)]
pub struct Publication {
    /// The key that it is found by.
    pub key: String,
    /// Its version.
    pub version: ReleaseVersion,
    /// The publisher.
    pub publisher: UserId,
    /// The component, not saved yet.
    pub component: SavedComponent,
    /// Its artifact.
    pub artifact: ArtifactBytes,
    /// Epoch seconds.
    pub published_at: EpochSeconds,
}

/// The result of a publication.
#[derive(Debug, Clone)]
pub enum Published {
    /// It is in the registry now.
    Added,
    /// This version was there with the same code: the component that it is. Nothing was written.
    Unchanged(Box<SavedComponent>),
    /// This version is there with other code. Nothing was written.
    VersionTaken,
    /// The key is another user's. Nothing was written.
    KeyTaken,
}

/// Components to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentFilter {
    /// Each occurs in key, name or description, in whatever case.
    pub words: Vec<String>,
    /// It has a prop of this app, or a key that begins with the app's slug and a hyphen.
    pub app: Option<String>,
    /// Its type.
    pub component_type: Option<ComponentType>,
}

/// A component without its code.
#[derive(Debug, Clone)]
pub struct ListedComponent {
    /// Its id.
    pub id: ComponentId,
    /// Its description of itself.
    pub description: Description,
    /// Where the code came from.
    pub code_url: Option<String>,
    /// SHA-256 of the code, hexadecimal.
    pub code_hash: CodeHash,
    /// Whether it is in the registry.
    pub is_published: bool,
    /// Epoch seconds.
    pub created_at: EpochSeconds,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// Published components.
#[async_trait]
pub trait Registry {
    /// Saves a component and puts it into the registry.
    /// MUST refuse a key that another user has published (`conformance::registry::a_key_belongs_to_who_published_it_first`).
    /// MUST change nothing when this version is there, whatever its code
    /// (`conformance::registry::a_published_version_never_changes`).
    async fn publish(&self, publication: Publication) -> Result<Published, StoreError>;

    /// The published component with this key: the one of this version, or the one that wins.
    /// MUST be that of the highest version, releases before pre-releases, whatever the order of publishing
    /// (`conformance::registry::the_highest_release_wins`).
    async fn published_component(
        &self,
        key: &str,
        version: Option<&ReleaseVersion>,
    ) -> Result<Option<SavedComponent>, StoreError>;

    /// Whether this component is published, in whatever version.
    async fn is_published(&self, id: &ComponentId) -> Result<bool, StoreError>;

    /// A page of what the owner may use, in the order of keys, then of what has none in creation order.
    /// MUST list one component per key: the owner's that the key means, unless that one is published, else the
    /// published one that wins (`conformance::registry::one_component_per_key_is_listed`).
    /// MUST count and page what the filter leaves
    /// (`conformance::registry::components_are_searched`, `conformance::registry::components_are_paged_both_ways`).
    async fn components(
        &self,
        owner: &Owner,
        filter: &ComponentFilter,
        page: &PageRequest<ComponentId>,
    ) -> Result<Page<ListedComponent>, StoreError>;
}
