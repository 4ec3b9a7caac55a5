//! Access to all sealed values, for a change of the secret key. Only the platform can open them.

use async_trait::async_trait;
use headwater_model::{
    id::{AccountId, DeploymentId, SourceId, WebhookId},
    prop::ConfiguredProps,
};

use crate::error::StoreError;

/// Bytes that only the platform's secret keys open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed(pub Vec<u8>);

/// A record with its sealed values.
#[derive(Debug, Clone, PartialEq)]
pub enum SealedRecord {
    /// An account's credentials.
    Account {
        /// The account.
        id: AccountId,
        /// The account's encrypted credentials.
        sealed: Sealed,
    },
    /// A webhook's secrets.
    Webhook {
        /// The webhook.
        id: WebhookId,
        /// The one that signs.
        secret: Sealed,
        /// The one before, if it was rotated.
        former_secret: Option<Sealed>,
    },
    /// A source's configured props, some of which may be sealed.
    Source {
        /// The source.
        id: SourceId,
        /// All of them.
        configured_props: ConfiguredProps,
    },
    /// The configured props of a source's deployment, some of which may be sealed.
    SourceDeployment {
        /// The deployment.
        id: DeploymentId,
        /// All of them.
        configured_props: ConfiguredProps,
    },
    /// A variable.
    Variable {
        /// The workspace's id, or else the user's.
        tenant: String,
        /// Its name.
        name: String,
        /// Its encrypted value.
        value: Sealed,
    },
}

/// A record that is sealed anew.
#[derive(Debug, Clone)]
pub struct Resealed {
    /// As it was read.
    pub former: SealedRecord,
    /// The same record with other values.
    pub record: SealedRecord,
}

/// The sealed values of every owner.
#[async_trait]
pub trait SealedRecords {
    /// Up to `limit` of the records that can hold sealed values, in a fixed order, after `after`; empty at the end.
    /// MUST give each record once (`conformance::sealed::every_sealed_record_is_found_once`).
    async fn sealed_records(
        &self,
        after: Option<&SealedRecord>,
        limit: u32,
    ) -> Result<Vec<SealedRecord>, StoreError>;

    /// Writes records that are sealed anew.
    /// MUST leave those that have changed since they were read, or are gone
    /// (`conformance::sealed::a_record_that_has_changed_is_not_sealed_anew`).
    async fn reseal(&self, records: Vec<Resealed>) -> Result<(), StoreError>;
}
