//! The names that people know things by, for lists that mention many of them.

use async_trait::async_trait;
use headwater_model::id::ListenerId;

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

/// The names of many things in one read.
#[async_trait]
pub trait Names {
    /// The names of these things, in no order, of at most the first [`NAMES_READ_MAX`].
    /// MUST leave out those that are not there
    /// (`conformance::names::things_are_named_and_those_that_are_gone_are_left_out`).
    async fn names(&self, ids: &[ListenerId]) -> Result<Vec<Named>, StoreError>;
}
