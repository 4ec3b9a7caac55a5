//! The names that people know things by, for lists that mention many of them.

use async_trait::async_trait;
use headwater_model::{
    component::Description,
    id::{ComponentId, ListenerId},
};

use crate::{error::StoreError, tenants::Owner};

/// Ids of one read.
pub const NAMES_READ_MAX: usize = 500;

/// A thing with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// The source, workflow or webhook.
    pub id: ListenerId,
    /// Its name; of a webhook without one, its URL.
    pub name: String,
    /// The owner, by whom it is decided who may know the name.
    pub owner: Owner,
}

/// A component as lists of sources tell of it.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedComponent {
    /// Its id.
    pub id: ComponentId,
    /// Its description of itself, with its key, its version and its apps.
    pub description: Description,
    /// The owner, by whom it is decided who may know of it.
    pub owner: Owner,
    /// Whether it is in the registry, so that everybody may.
    pub is_published: bool,
}

/// The names of many things in one read.
#[async_trait]
pub trait Names {
    /// The names of these things, in no order, of at most the first [`NAMES_READ_MAX`].
    /// MUST leave out those that are not there
    /// (`conformance::names::things_are_named_and_those_that_are_gone_are_left_out`).
    async fn names(&self, ids: &[ListenerId]) -> Result<Vec<Named>, StoreError>;

    /// These components without their code, in no order, of at most the first [`NAMES_READ_MAX`].
    /// MUST leave out those that are not there
    /// (`conformance::names::components_are_told_of_and_those_that_are_gone_are_left_out`).
    async fn named_components(
        &self,
        ids: &[ComponentId],
    ) -> Result<Vec<NamedComponent>, StoreError>;
}
