//! Variables of an owner, which steps of workflows see as `process.env`.

use async_trait::async_trait;
use headwater_model::time::EpochSeconds;

use crate::{error::StoreError, sealed::Sealed};

/// A variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its value, encrypted.
    pub value: Sealed,
    /// Epoch seconds.
    pub updated_at: EpochSeconds,
}

/// Variables by tenant: a workspace's id, or else a user's.
#[async_trait]
pub trait Variables {
    /// Writes a variable.
    async fn set_variable(&self, tenant: &str, variable: Variable) -> Result<(), StoreError>;

    /// All variables of a tenant, by name.
    async fn variables(&self, tenant: &str) -> Result<Vec<Variable>, StoreError>;

    /// Deletes a variable. False: there was none.
    async fn delete_variable(&self, tenant: &str, name: &str) -> Result<bool, StoreError>;
}
