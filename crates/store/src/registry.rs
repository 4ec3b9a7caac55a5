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
    /// Its key.
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
    /// The component is in the registry now.
    Added,
    /// This version was published before, with the same code, as this component. Nothing was written.
    Unchanged(Box<SavedComponent>),
    /// This version was published with other code. Nothing was written.
    VersionTaken,
    /// The key is another user's. Nothing was written.
    KeyTaken,
}

/// Components to list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ComponentFilter {
    /// Words, each of which occurs in key, name, description or the origin of the code; case is ignored.
    pub words: Vec<String>,
    /// It has a prop of this app, or a key that begins with the app's slug and a hyphen.
    pub app: Option<String>,
    /// Its type.
    pub component_type: Option<ComponentType>,
    /// Whether unpublished components have to be those of sources: drafts that were never deployed are not.
    pub of_sources: bool,
}

/// A component without its code.
#[derive(Debug, Clone)]
pub struct ListedComponent {
    /// Its id.
    pub id: ComponentId,
    /// Its description of itself.
    pub description: Description,
    /// The origin of the code.
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
    /// MUST change nothing when this version exists, with the same code or other code
    /// (`conformance::registry::a_published_version_never_changes`).
    async fn publish(&self, publication: Publication) -> Result<Published, StoreError>;

    /// The published component with this key and version, or the one that wins among all versions.
    /// MUST be that of the highest version, releases before pre-releases, whatever the order of publishing
    /// (`conformance::registry::the_highest_release_wins`).
    async fn published_component(
        &self,
        key: &str,
        version: Option<&ReleaseVersion>,
    ) -> Result<Option<SavedComponent>, StoreError>;

    /// Whether this component is published, in any version.
    async fn is_published(&self, id: &ComponentId) -> Result<bool, StoreError>;

    /// A page of the components that the owner may use: in the order of keys, then those without a key in creation
    /// order.
    /// MUST leave out those of steps (`conformance::registry::components_of_steps_are_not_listed`).
    /// MUST list one component per key: the owner's unpublished one that the key refers to if there is one, else the
    /// published one that wins (`conformance::registry::one_component_per_key_is_listed`).
    /// MUST list the one of a source, where only those are asked for and a later draft has its key
    /// (`conformance::registry::drafts_without_a_source_are_left_out`).
    /// MUST count and page the components that match the filter
    /// (`conformance::registry::components_are_searched`, `conformance::registry::components_are_paged_both_ways`).
    async fn components(
        &self,
        owner: &Owner,
        filter: &ComponentFilter,
        page: &PageRequest<ComponentId>,
    ) -> Result<Page<ListedComponent>, StoreError>;
}

/// The slugs of a component's apps, each between spaces: those of its props, and its key's first word.
pub fn app_slugs(description: &Description) -> String {
    let of_key = description
        .key
        .iter()
        .filter_map(|key| key.split('-').next());
    let of_props = description.props.iter().filter_map(|prop| prop.app());
    let slugs: Vec<_> = of_key.chain(of_props).collect();
    format!(" {} ", slugs.join(" "))
}
